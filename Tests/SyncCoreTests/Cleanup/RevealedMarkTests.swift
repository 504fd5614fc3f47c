import InMemoryAdapters
import SyncModels
import SyncPorts
import Testing

@testable import SyncCore

@Suite("The mark of a hidden record that is shown again")
struct RevealedMarkTests {
  private static let nodes = Entity("nodes", references: [.to("nodes", by: "next")])
  private static let record = Record(
    id: RecordID(type: "nodes", key: "a"),
    version: Version(sequence: 1, modifiedAt: Timestamp(milliseconds: 1)),
    payload: Payload(Array(#"{"id":"a"}"#.utf8)), fields: [.null])

  /// A listing's first page is committed under the checkpoint of the listing before.
  @Test(arguments: [1, 2]) func isThatOfTheListingUnderWay(pass: Int64) async throws {
    let schema = try SyncSchema([Self.nodes])
    let store = InMemoryStore()
    try await store.register(schema)
    let lease = try await store.acquireLease(for: .seconds(60))
    let isMarked = try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
      var checkpoint = Checkpoint(
        scope: Checkpoint.Scope(source: "", query: "", schemaVersion: 1, store: ""))
      (checkpoint.lastPass, checkpoint.sweep) = (1, Checkpoint.Sweep(pass: 1))
      try transaction.setCheckpoint(checkpoint, for: "nodes")
      try transaction.put([Self.record])
      try transaction.mark([Self.record.id])
      try HiddenRecords(schema: schema, transaction: transaction)
        .hide([Self.record], reason: "", fence: 1, at: Timestamp(milliseconds: 2))
      if pass > 1 { try transaction.clearMarks("nodes") }
      _ = try HiddenRecords(schema: schema, transaction: transaction, listing: ("nodes", pass))
        .reveal([Self.record.id])
      return try transaction.state(of: Self.record.id)?.isMarked
    }
    #expect(isMarked == (pass == 1))
  }
}
