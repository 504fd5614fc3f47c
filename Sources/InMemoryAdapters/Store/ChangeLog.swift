import SyncModels
import SyncPorts

/// The records that the newest writes changed, by the writes' positions.
struct ChangeLog: Sendable {
  private var writes = OrderedMap<StorePosition, [RecordID]?>()
  private var position = StorePosition(0)
  /// The changes so far of the open transaction.
  private var open: Set<RecordID> = []

  mutating func insert(_ id: RecordID) { open.insert(id) }

  /// Assigns a position to the transaction's changes, if there are any.
  mutating func close() {
    if open.isEmpty { return }
    position.number += 1
    writes[position] = .some(open.count > CommittedChanges.maximumRecords ? nil : Array(open))
    writes[StorePosition(position.number - CommittedChanges.maximumWrites)] = nil
    open = []
  }

  /// The changes after a position.
  func after(_ start: StorePosition?) -> CommittedChanges {
    guard let start, start != position else { return CommittedChanges(.records([]), through: position) }
    let oldest = position.number - CommittedChanges.maximumWrites
    guard start < position, start.number >= oldest else {
      return CommittedChanges(.everything, through: position)
    }
    var ids: Set<RecordID> = []
    for (_, records) in writes.entries(after: start) {
      guard let records else { return CommittedChanges(.everything, through: position) }
      ids.formUnion(records)
    }
    return CommittedChanges(.records(ids.sorted()), through: position)
  }
}
