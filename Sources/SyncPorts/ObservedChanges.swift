package import SyncModels

/// The records whose visible state a transaction changes, if they are few.
package struct ObservedChanges {
  private var ids: [RecordID] = []
  package private(set) var isEmpty = true
  private var areMany = false

  /// Creates an empty value.
  package init() {}

  /// The most records that one position lists.
  package static let maximumRecords = 256
  /// The number of positions that are kept, at least.
  package static let maximumWrites: Int64 = 1000

  /// The records; `nil` if they are too many.
  package var records: [RecordID]? { areMany ? nil : ids }

  /// Adds the records that a round puts or deletes.
  package mutating func note(_ changes: StoreChanges) {
    let count = changes.put.count + changes.deleted.count
    if count == 0 { return }
    isEmpty = false
    if areMany { return }
    guard ids.count + count <= Self.maximumRecords else {
      (ids, areMany) = ([], true)
      return
    }
    ids += changes.put.lazy.map(\.id)
    ids += changes.deleted.lazy.map(\.id)
  }
}
