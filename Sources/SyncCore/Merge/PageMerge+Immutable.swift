import SyncModels
import SyncPorts

// Copies that change what an immutable field has been: they are shown with the earliest value, and an edit that restores it goes to the remote.
extension PageMerge {
  /// What is to be made of those of some copies that change immutable fields of the rows whose place they are about to take.
  func restorations(
    of copies: @autoclosure () -> [Record], in transaction: any StoreTransaction
  ) throws(SyncError) -> [EditWriter.Change] {
    guard !entity.immutable.isEmpty else { return [] }
    let copies = copies()
    let rows = try transaction.records(withIDs: copies.map(\.id))
    return zip(copies, rows).compactMap { copy, row in
      let kept = entity.keepingImmutable(copy.payload, row?.payload)
      guard kept != copy.payload else { return nil }
      return EditWriter.Change(shown: copy, content: .upsert(kept, schemaVersion: copy.schemaVersion))
    }
  }

  /// Edits copies that are in the store now, so that they show what they are to be.
  func restore(_ changes: [EditWriter.Change], in transaction: any StoreTransaction) throws(SyncError) {
    guard !changes.isEmpty else { return }
    var writer = try EditWriter(
      context.schema, at: context.now, maximumClockSkew: context.edits.maximumClockSkew, in: transaction)
    try writer.edit(changes, pending: [:])
    try writer.finish()
  }
}
