import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("An edit that cannot stand", .timeLimit(.minutes(10)))
struct RefusedEditTests {
  private func refuse(
    _ world: World, _ edit: @escaping @Sendable (inout EditBatch) throws(SyncError) -> Void
  ) async throws {
    await #expect {
      try await world.engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "teams", key: "before")) { $0["name"] = Array("1".utf8)[...] }
        try edit(&batch)
      }
    } throws: {
      ($0 as? SyncError)?.code == .invalidEdit
    }
    #expect(world.keys("teams") == [], "what came before it in its transaction was written")
  }

  @Test func isOneOfARecordWithoutAKey() async throws {
    try await refuse(try await World()) { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "")) { $0["name"] = Array("1".utf8)[...] }
    }
  }

  @Test func isOneThatIsWrittenForALaterVersionOfTheApp() async throws {
    try await refuse(try await World()) { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "t1")) { $0["schema"] = Array("2".utf8)[...] }
    }
  }

  @Test func isOneWhoseMembersAreNoJSON() async throws {
    try await refuse(try await World()) { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "t1")) { $0["name"] = Array("}{".utf8)[...] }
    }
  }

}
