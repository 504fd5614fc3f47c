import SyncModels
import SyncPorts

extension HybridClock {
  private static let key = ValueKey<HybridClock>(.edits, "clock")

  /// Loads the clock of the store's last edit. The replica's name is the store's.
  static func load(from snapshot: any StoreSnapshot) throws(SyncError) -> HybridClock {
    if let clock = try snapshot.value(of: key) { return clock }
    return HybridClock(replica: try snapshot.storeIdentity())
  }

  func save(in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key)
  }
}
