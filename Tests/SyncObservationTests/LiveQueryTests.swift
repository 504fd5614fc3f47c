import CanonicalSync
import InMemoryAdapters
import Observation
import SyncObservation
import Synchronization
import Testing

@Suite("A live query", .timeLimit(.minutes(10)))
@MainActor struct LiveQueryTests {
  struct Note: SyncedRecord, Codable, Equatable, Identifiable {
    static let recordType: RecordType = "notes"
    var id: String
    var text: String
  }
  struct Undeclared: SyncedRecord, Codable { static let recordType: RecordType = "others" }

  private func engine() async throws -> (SyncEngine, InMemoryRemote) {
    let remote = InMemoryRemote()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("notes")), store: InMemoryStore(), source: remote, sink: remote)
    return (engine, remote)
  }

  /// Waits until a value that is read from a query changes.
  private func change(of read: () -> Void) async {
    await withCheckedContinuation { continuation in
      withObservationTracking(read) { continuation.resume() }
    }
  }

  /// Waits until a condition on a query holds, by its observation alone.
  private func wait(until isSo: () -> Bool) async {
    while !isSo() {
      await change { _ = isSo() }
    }
  }

  @Test func showsTheResultNowAndAfterEachChange() async throws {
    let (engine, remote) = try await engine()
    let notes = LiveQuery(engine.records.observe(Note.self))
    #expect(!notes.isLoaded && notes.records.isEmpty)
    let showing = Task { await notes.follow() }
    await wait { notes.isLoaded }
    #expect(notes.records.isEmpty)
    try await engine.edits.upsert(Note(id: "n1", text: "a"))
    await wait { notes.records.map(\.text) == ["a"] }
    remote.upsert("notes", "n2", #"{"id":"n2"}"#)
    _ = try await engine.sync()
    await wait { notes.leftOut.map(\.id.key) == ["n2"] }
    showing.cancel()
    await showing.value
    #expect(notes.error == nil && notes.records.map(\.text) == ["a"])
    // It goes on from what is there by then.
    try await engine.edits.upsert(Note(id: "n1", text: "b"))
    let again = Task { await notes.follow() }
    await wait { notes.records.map(\.text) == ["b"] }
    again.cancel()
    await again.value
  }

  @Test func keepsTheErrorThatEndedIt() async throws {
    let others = LiveQuery(try await engine().0.records.observe(Undeclared.self))
    await others.follow()
    #expect(others.error?.code == .invalidConfiguration && !others.isLoaded)
  }
}
