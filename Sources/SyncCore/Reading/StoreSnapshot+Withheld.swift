import SyncModels
import SyncPorts

extension StoreSnapshot {
  /// Returns the withheld changes of some records, by record.
  func withheld(of ids: some Collection<RecordID>) throws(SyncError) -> [RecordID: WithheldChange] {
    var withheld: [RecordID: WithheldChange] = [:]
    for entry in try self.withheld(for: ids.map { .record($0) }) {
      if case .record(let id) = entry.key { withheld[id] = entry }
    }
    return withheld
  }

  /// Returns the pending edits of some records, by record.
  func edits(of ids: [RecordID]) throws(SyncError) -> [RecordID: OutboxEntry] {
    let entries = try outbox(for: ids)
    var edits = [RecordID: OutboxEntry](minimumCapacity: entries.count)
    for entry in entries { edits[entry.id] = entry }
    return edits
  }
}
