import SyncModels
import SyncPorts

/// Writes down what is about to be sent, in one transaction before it is sent for the first time: whatever happens then, it is sent again
/// as it was, under the same name.
struct PushPreparation: Sendable {
  var ids: [RecordID]
  /// The part of the push that is under way: an edit may have become one of the other.
  var stage: PushPortion.Stage
  var now: Timestamp

  /// Prepares those of the records whose turn it still is, and returns their entries in the order asked for.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> [OutboxEntry] {
    var entries = [RecordID: OutboxEntry](minimumCapacity: ids.count)
    for entry in try transaction.outbox(for: ids) where entry.isDue(at: now) && stage.includes(entry) {
      entries[entry.id] = entry
    }
    let prepared = ids.compactMap { id in
      guard var entry = entries[id] else { return OutboxEntry?.none }
      entry.sent = entry.next
      entry.state = .waiting
      entry.attempts += 1
      return entry
    }
    if !prepared.isEmpty { try transaction.queue(prepared) }
    #if MUTANTS
      if Mutant.outboxEmptiedTooEarly.isActive { try transaction.dequeue(prepared.map(\.id)) }
    #endif
    return prepared
  }
}
