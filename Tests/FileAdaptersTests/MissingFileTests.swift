import CanonicalSync
import FileAdapters
import Foundation
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A directory with missing files", .timeLimit(.minutes(10)))
struct MissingFileTests {
  private func error(
    _ source: DirectorySource, _ position: PullPosition, of entity: Entity = games, pass: Int64 = 1
  ) async -> SyncError? {
    do throws(SyncError) {
      _ = try await source.page(position, of: entity, pass: pass)
      return nil
    } catch {
      return error
    }
  }

  @Test func listsNothingForAFileThatWasNeverThere() async throws {
    try await withTemporaryDirectory { directory in
      let source = try DirectorySource(directory: directory.path)
      let page = try await source.page(.start(since: nil))
      #expect(page.changes.isEmpty && page.coverage == .full)
      guard case .done(let token?) = page.next else {
        Issue.record("the listing does not end: \(page.next)")
        return
      }
      #expect(try await source.page(.start(since: token)).coverage == .delta)
      try directory.write(lines(1...2), to: "games.ndjson")
      #expect(try await source.listing(since: token).keys == ["g1", "g2"])
    }
  }

  @Test func takesAFileThatIsGoneForAMistake() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let first = try await source.page(.start(since: nil), limit: 1)
      let token = try await source.listing().token
      try directory.remove("games.ndjson")
      for position in [PullPosition.start(since: token), .resume(try #require(next(first)))] {
        let error = await error(source, position)
        #expect(error?.code == .inconsistentData)
        #expect(error?.message.contains("games.ndjson is missing") == true)
      }
      try directory.write("", to: "games.ndjson")
      let emptied = try await source.page(.start(since: token))
      #expect(emptied.coverage == .full && emptied.changes.isEmpty)
    }
  }

  /// A file that is being replaced is missing, and the listing has no token.
  @Test func takesAFileThatIsGoneForAMistakeInALaterListingOfEverythingToo() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let store = InMemoryStore()
      let engine = try await SyncEngine(schema: SyncSchema(Entity("games")), store: store, source: source)
      #expect(try await engine.sync().total.inserted == 2)
      try directory.remove("games.ndjson")
      let result = try await engine.resync()
      #expect(result.failures.map(\.error.code) == [.inconsistentData])
      #expect(store.records(of: "games").count == 2)
      #expect(await error(source, .start(since: nil), pass: 2)?.code == .inconsistentData)
      try directory.write(lines(2...3), to: "games.ndjson")
      let next = try await engine.sync().total
      #expect(next.inserted == 1 && next.swept == 1)
    }
  }

  @Test func takesADirectoryThatIsGoneForARemoteThatIsAway() async throws {
    try await withTemporaryDirectory { directory in
      try FileManager.default.createDirectory(
        atPath: directory.path + "/data", withIntermediateDirectories: false)
      let source = try DirectorySource(directory: directory.path + "/data")
      try directory.remove("data")
      #expect(await error(source, .start(since: nil))?.code == .remoteUnavailable)
    }
  }

  @Test func isRefusedWhenItIsNoDirectory() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("", to: "file")
      for path in [directory.path + "/nowhere", directory.path + "/file", ""] {
        let error = #expect(throws: SyncError.self) { try DirectorySource(directory: path) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("\"\(path)\"") == true)
      }
    }
  }

  @Test func saysWhatStandsInAFilesPlace() async throws {
    try await withTemporaryDirectory { directory in
      try FileManager.default.createDirectory(
        atPath: directory.path + "/games.ndjson", withIntermediateDirectories: false)
      #expect(mkfifo(directory.path + "/teams.ndjson", 0o600) == 0)
      let source = try DirectorySource(directory: directory.path)
      for type in ["games", "teams"] {
        let error = await error(source, .start(since: nil), of: Entity(RecordType(type)))
        #expect(error?.code == .inconsistentData)
        #expect(error?.message.contains("\(type).ndjson is not a regular file") == true)
      }
    }
  }

  // The superuser may read every file.
  @Test(.enabled(if: geteuid() != 0)) func saysThatAFileMayNotBeRead() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "games.ndjson")
      #expect(chmod(directory.path + "/games.ndjson", 0) == 0)
      let source = try DirectorySource(directory: directory.path)
      #expect(await error(source, .start(since: nil))?.code == .permissionDenied)
    }
  }

  @Test(arguments: ["../secrets", "", "a/b", "nul\0"])
  func doesNotLeaveTheDirectory(_ name: String) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "secrets.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let error = await error(source, .start(since: nil), of: Entity(RecordType(name)))
      #expect(error?.code == .invalidConfiguration)
    }
  }

  @Test func isNamedByItsCanonicalPathOrAsTheCallerSays() async throws {
    try await withTemporaryDirectory { directory in
      let direct = try DirectorySource(directory: directory.path)
      let around = try DirectorySource(directory: directory.path + "/./")
      #expect(direct.identity == around.identity)
      #expect(try DirectorySource(directory: directory.path, identity: "schedule").identity == "schedule")
    }
  }
}
