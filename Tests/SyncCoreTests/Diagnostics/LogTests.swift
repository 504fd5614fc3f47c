import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A log", .timeLimit(.minutes(10)))
struct LogTests {
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test func hasStableNamesAndNothingOfTheRecords() async throws {
    let lines = Lines()
    let world = try await World()
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      options: SyncOptions(massDeletionRecords: 0, massDeletionShare: 0),
      observers: [LogObserver { lines.append($0) }], random: RepeatedNumber())
    world.addTeams(1...3, name: "TOP-SECRET")
    world.remote.putMalformed("teams", "t4", Array(#"{"name":"TOP-SECRET"#.utf8))
    world.remote.behave(.fail(SyncError(.remoteUnavailable, during: "fetching")), on: 1)
    _ = try await engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...2, name: "TOP-SECRET")
    world.remote.behave(.fail(SyncError(.quotaExceeded, during: "fetching")), onNext: 1, of: "games")
    _ = try await engine.sync()
    world.remote.behave(.fail(SyncError(.authentication, during: "fetching")))
    await #expect(throws: SyncError.self) { try await engine.sync() }
    let names = Set(lines.all.map { String($0.prefix { $0 != " " }) })
    #expect(
      names == [
        "sync.started", "sync.retrying", "sync.entity.started", "sync.quarantined", "sync.page.committed",
        "sync.entity.finished", "sync.finished", "sync.reset", "sync.entity.failed", "sync.sweep.refused",
        "sync.failed",
      ])
    #expect(!lines.all.contains { $0.contains("TOP-SECRET") })
    #expect(lines.all.first == "sync.started fence=1")
  }

  @Test func keepsToOneLineWhateverAKeyHolds() async throws {
    let lines = Lines()
    let world = try await World()
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      observers: [LogObserver { lines.append($0) }])
    world.remote.putMalformed("teams", "t1\nsync.failed code=forged", [])
    _ = try await engine.sync()
    #expect(lines.all.contains { $0.hasPrefix("sync.quarantined") })
    let malformed = MalformedRecord(
      type: "teams", key: "t1\nforged", bytes: Payload([]), reason: "It is cut.")
    #expect(!"\(SyncEvent.quarantined(malformed))".contains("\n"))
    #expect(!lines.all.contains { $0.contains { $0.isNewline } })
  }

  /// Such a character makes a terminal show another text than the line has.
  @Test(arguments: ["\u{202e}", "\u{2066}", "\u{1b}[2K", "\u{85}"])
  func showsNoOtherTextThanItHas(_ control: String) {
    let key = "t1\(control)deinnalp"
    let malformed = MalformedRecord(type: "teams", key: key, bytes: Payload([]), reason: "It is cut.")
    let failure = SyncError(.authentication, during: "fetching", key)
    for line in [
      "\(SyncEvent.quarantined(malformed))", "\(SyncOutcome.failed(failure))",
      "\(SyncCoordinator.Event.cleanedUp(failure))",
    ] {
      #expect(line.contains("deinnalp") && !line.contains(control), "\(line)")
    }
  }
}
