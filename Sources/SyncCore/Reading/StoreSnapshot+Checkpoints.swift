public import SyncModels
public import SyncPorts

// Checkpoints are kept values, one for each type.

extension StoreSnapshot {
  /// The checkpoint of a type; `nil` before its first page is committed.
  ///
  /// - Throws: `storeUnreadable` where something else is kept in its place.
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
  /// What the names of all checkpoints begin with.
  package static let keyPrefix = "checkpoint/"

  /// The name that a type's checkpoint is kept under.
  package static func key(for type: RecordType) -> String { keyPrefix + type.rawValue }
}
