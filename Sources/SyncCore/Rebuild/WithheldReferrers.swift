import SyncModels
import SyncPorts

/// The withheld copies that refer to records of a type, ordered or not.
///
/// Readers do not see them, but the remote has them.
struct WithheldReferrers {
  private let schema: SyncSchema
  private let types: [RecordType]

  init(to type: RecordType, in schema: SyncSchema) {
    self.schema = schema
    types = schema.entities.filter { $0.references.contains { $0.target == type } }.map(\.type)
  }

  /// Returns those of some records that such a copy refers to.
  func targets(
    among ids: @autoclosure () -> [RecordID], kinds: Set<WithheldChange.Kind>, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<RecordID> {
    guard try areAny(kinds, in: snapshot) else { return [] }
    var found: Set<RecordID> = []
    for id in ids()
    where try !snapshot.withheld(.referringTo, [id], kinds: kinds, after: nil, limit: 1).isEmpty {
      found.insert(id)
    }
    return found
  }

  /// Returns a portion of the copies that refer to one of some records.
  func entries(
    referringTo ids: [RecordID], kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?,
    in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [WithheldChange] {
    guard try areAny(kinds, in: snapshot) else { return [] }
    return try snapshot.portion(related: .referringTo, ids, kinds, after: after)
  }

  /// Shows hidden records that refer to given records, so that they can be edited.
  ///
  /// A hidden record is shown only if the records that it refers to are live.
  ///
  /// - Returns: The records that are live now.
  func reveal(
    _ ids: some Collection<RecordID>, limit: Int, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    guard try areAny([.hidden], in: transaction) else { return [] }
    let ids = ids.sorted()
    var shown: [RecordID] = []
    for start in stride(from: 0, to: ids.count, by: MergeContext.portion) {
      let portion = Array(ids[start..<min(start + MergeContext.portion, ids.count)])
      var portions = transaction.portions(withheldReferringTo: portion, [.hidden])
      while let entries = try portions.next() {
        shown += try HiddenRecords(schema: schema, transaction: transaction)
          .reveal(entries.compactMap(\.change.id)).map(\.id)
        if shown.count >= limit { return shown }
      }
    }
    return shown
  }

  private func areAny(
    _ kinds: Set<WithheldChange.Kind>, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    for type in types
    where try snapshot.withheldCounts(type).contains(where: { kinds.contains($0.key) && $0.value > 0 }) {
      return true
    }
    return false
  }
}
