public import SyncModels
public import SyncPorts

// Checkpoints are kept values, one for each type.

extension StoreSnapshot {
  /// The checkpoint of a type; `nil` before its first page is committed.
  ///
  /// - Throws: `storeUnreadable` if another kind of value is kept in its place.
  public func checkpoint(for type: RecordType) throws(SyncError) -> Checkpoint? {
    try decoded(Checkpoint.self, forKey: Checkpoint.key(for: type))
  }
}

extension StoreTransaction {
  /// Saves the checkpoint of a type.
  package func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    try encode(checkpoint, forKey: Checkpoint.key(for: type))
  }
}

extension Checkpoint {
  /// The prefix of the keys of all checkpoints.
  package static let keyPrefix = "checkpoint/"

  /// Returns the key of a type's checkpoint.
  package static func key(for type: RecordType) -> String { keyPrefix + type.rawValue }
}
