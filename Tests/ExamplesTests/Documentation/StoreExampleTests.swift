import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncConformance
import SyncSimulation
import Testing

// The tests of Docs/WritingAStore.md.

@Suite("The guide to writing a store", .timeLimit(.minutes(10)))
struct StoreExampleTests {
  @Test(arguments: LocalStoreCheck.allCases)
  func myStoreConforms(_ check: LocalStoreCheck) async throws {
    let folder = try TemporaryFolder()
    let clock = ManualClock()
    let harness = LocalStoreHarness(
      open: { try JSONFileStore(at: folder.file("store.json"), leaseClock: { clock.timestamp }) },
      openAnother: { try JSONFileStore(at: folder.file("other.json"), leaseClock: { clock.timestamp }) },
      advanceLeaseClock: { clock.advance(by: $0) }, isDurable: true)
    #expect(try await check.run(on: harness) == .kept)
  }

  @Test func myStoreKeepsEveryPromise() {
    var simulation = Simulation()
    simulation.useStores { leaseClock throws(SyncError) in
      let folder = try TemporaryFolder()
      return StoreBench(
        open: { () throws(SyncError) in
          try JSONFileStore(at: folder.file("store.json"), leaseClock: leaseClock)
        }, discard: { folder.remove() })
    }
    #expect(simulation.run(seeds: 0..<5).failures.map(\.outcome.violations) == [])
  }

  struct Game: SyncedRecord, Codable {
    static let recordType: RecordType = "games"
    var home: String
    var date: String
  }

  @Test func goesOnAfterItWasReopened() async throws {
    let folder = try TemporaryFolder()
    let schema = try SyncSchema(
      Entity("teams"), Entity("games", references: [.to("teams", by: "home")], indexes: ["date"]))
    let remote = InMemoryRemote()
    remote.upsert("teams", "t", #"{"name":"Town"}"#)
    remote.upsert("games", "a", #"{"home":"t","date":"2026-04-06"}"#)
    remote.upsert("games", "waits", #"{"home":"unknown","date":"2026-04-07"}"#)
    let file = folder.file("league.json")
    // Each engine opens the file again, as the next process would.
    func engine() async throws -> SyncEngine {
      try await SyncEngine(
        schema: schema, store: JSONFileStore(at: file), source: remote, sink: remote)
    }

    let first = try await engine().sync()
    #expect(first["games"].inserted == 1)
    #expect(first["games"].deferred == 1)

    try await engine().edits.upsert(Game(home: "t", date: "2026-04-08"), key: "b")
    remote.upsert("teams", "unknown", "{}")
    let second = try await engine().sync()
    #expect(second.pushed.accepted == 1)
    #expect(second["teams"].inserted == 1)
    #expect(second["games"].replayed == 1)

    let games = try await engine().records.all(Game.self)
    #expect(games.map(\.date) == ["2026-04-06", "2026-04-08", "2026-04-07"])
    #expect(remote.records(of: "games").map(\.key) == ["a", "b", "waits"])
    #expect(try await engine().sync().isEmpty)
  }

  @Test func isAtMost400LinesLong() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    let lines = try files.filter { $0.lastPathComponent.hasPrefix("JSONFileStore") }.map {
      try String(contentsOf: $0, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        .count - 1
    }
    #expect(lines.count == 2)
    #expect(lines.reduce(0, +) <= 400)
  }
}

/// A folder that is deleted with its last reference.
private final class TemporaryFolder: Sendable {
  private let url = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")

  init() throws(SyncError) {
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw SyncError(.storeFailure, during: "making a folder", underlying: error)
    }
  }

  deinit { remove() }

  func file(_ name: String) -> URL { url.appending(path: name) }

  func remove() {
    // The system removes any remaining files.
    try? FileManager.default.removeItem(at: url)
  }
}
