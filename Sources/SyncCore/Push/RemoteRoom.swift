import SyncModels
import SyncPorts

/// What the last push learned about room at the remote.
enum RemoteRoom {
  private static let key = ValueKey<Noted>(.push, "full")

  /// Returns whether the remote had no room for new records.
  static func isLacking(in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    try snapshot.value(of: key) != nil
  }

  /// Notes whether the remote had room.
  static func note(isLacking: Bool, in transaction: any StoreTransaction) throws(SyncError) {
    if isLacking { try transaction.set(.noted, for: key) } else { try transaction.remove(key) }
  }
}
