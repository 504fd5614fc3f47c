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
