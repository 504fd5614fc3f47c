import SyncModels
import SyncPorts

/// Saves the edits of a batch as sent, in one transaction before the first send.
///
/// After any interruption, they are sent again unchanged, under the same idempotency keys.
struct PushPreparation: Sendable {
  var ids: [RecordID]
  /// The current stage of the push; an edit may have moved to the other stage.
  var stage: PushPortion.Stage
  var now: Timestamp

  /// Prepares those of the records that are still due, and returns their entries in order.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> [OutboxEntry] {
    let entries = try transaction.outbox(for: ids)
    var places = [RecordID: Int](minimumCapacity: ids.count)
    for place in entries.indices where entries[place].isDue(at: now) && stage.includes(entries[place]) {
      places[entries[place].id] = place
    }
    let prepared = ids.compactMap { id in
      guard let place = places[id] else { return OutboxEntry?.none }
      var entry = entries[place]
      entry.sent = entry.next
      entry.state = .waiting
      entry.attempts = entry.attempts.addingOne
      return entry
    }
    if !prepared.isEmpty { try transaction.queue(prepared) }
    return prepared
  }
}
