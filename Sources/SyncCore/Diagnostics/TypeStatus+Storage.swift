import SyncJSON
import SyncModels
import SyncPorts

extension TypeStatus {
  /// Reads what the store remembers of a type; a type that was never synced has an empty status.
  static func load(for type: RecordType, from snapshot: any StoreSnapshot) throws(SyncError) -> TypeStatus {
    guard let bytes = try snapshot.value(forKey: key(for: type)) else { return TypeStatus() }
    // A status that another version wrote otherwise is not worth failing for: it says how syncs went, no more.
    return (try? JSONByteDecoder().decode(TypeStatus.self, from: bytes[...])) ?? TypeStatus()
  }

  /// Writes the status down, with whatever else the transaction does.
  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.encode(self, forKey: Self.key(for: type))
  }

  private static func key(for type: RecordType) -> String { "status/\(type)" }
}
