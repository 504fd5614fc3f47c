import SyncJSON
import SyncModels
import SyncPorts

extension TypeStatus {
  /// Loads the status of a type; empty if the type was never synced.
  static func load(for type: RecordType, from snapshot: any StoreSnapshot) throws(SyncError) -> TypeStatus {
    guard let bytes = try snapshot.value(forKey: key(for: type)) else { return TypeStatus() }
    // A status of an unknown format is ignored: it only describes past syncs.
    return (try? JSONByteDecoder().decode(TypeStatus.self, from: bytes[...])) ?? TypeStatus()
  }

  /// Saves the status within a transaction.
  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.encode(self, forKey: Self.key(for: type))
  }

  private static func key(for type: RecordType) -> String { "status/\(type)" }
}
