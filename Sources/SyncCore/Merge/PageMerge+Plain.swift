import SyncModels
import SyncPorts

extension PageMerge {
  /// Merges a page's changes, then what was parked for records that are live now, and so on.
  mutating func mergeAndRelease(
    page changes: [RecordChange], in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard let copies = try plainCopies(of: changes, in: transaction) else {
      return try mergeAndRelease(changes.map { Incoming($0) }, in: transaction)
    }
    var batch = Batch(copies: copies)
    if context.markPass != nil { batch.marks = copies.map(\.id) }
    try releaseParked(waitingFor: try write(&batch, in: transaction), in: transaction)
  }

  /// The copies of an ordinary page, which need no sorting: each of another record, none of a newer schema, and nothing set aside
  /// or edited that one of them could meet.
  private func plainCopies(
    of changes: [RecordChange], in transaction: any StoreTransaction
  ) throws(SyncError) -> [Record]? {
    guard !context.stages, try transaction.withheldCounts(entity.type).isEmpty,
      try transaction.outboxCount(entity.type) == 0
    else { return nil }
    var copies: [Record] = []
    copies.reserveCapacity(changes.count)
    var isAscending = true
    for change in changes {
      guard case .upsert(let record) = change, record.schemaVersion <= entity.schemaVersion else {
        return nil
      }
      if isAscending, let last = copies.indices.last {
        isAscending = copies[last].id.key.precedesByUTF8(record.id.key)
      }
      copies.append(record)
    }
    // A remote that lists by id lists none twice; to see that is cheaper than to remember them all.
    if !isAscending, Set(copies.lazy.map(\.id)).count != copies.count { return nil }
    return copies
  }
}
