import SyncModels
import SyncPorts

/// An empty listing of a type that has records. One answer alone removes none of them.
enum EmptyListing {
  /// The pass of the first such listing in succession.
  private static func key(_ type: RecordType) -> ValueKey<Int64> { ValueKey(.sync, "empty/\(type.rawValue)") }

  /// Whether an earlier listing was empty too.
  static func isConfirmed(
    _ type: RecordType, by pass: Int64, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    try snapshot.value(of: key(type)).map { $0 < pass } ?? false
  }

  /// Notes a refused sweep, and asks for a second listing after a first one that was empty.
  static func note(
    _ checkpoint: inout Checkpoint, of type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard let sweep = checkpoint.sweep, sweep.listed == 0, try transaction.value(of: key(type)) == nil
    else { return }
    try transaction.set(sweep.pass, for: key(type))
    checkpoint.needsSecondListing = true
  }

  /// Forgets them after a sweep.
  static func forget(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try transaction.value(of: key(type)) != nil { try transaction.remove(key(type)) }
  }
}
