import SyncModels
import SyncPorts

/// The records of a type that the store was made to forget.
///
/// Their rows stay, deleted, for the sake of their versions. They say nothing about what another account
/// has under the same keys: above all, nobody has deleted a record there.
struct ForgottenRecords {
  /// The type's epoch when it was forgotten. The next sync begins another one.
  let epoch: Int64

  private static func key(_ type: RecordType) -> ValueKey<Int64> { ValueKey(.edits, "forgotten/\(type)") }

  /// Loads what is known of a type; `nil` if it was never forgotten.
  static func load(_ type: RecordType, from snapshot: any StoreSnapshot) throws(SyncError)
    -> ForgottenRecords?
  {
    try snapshot.value(of: key(type)).map(ForgottenRecords.init)
  }

  /// Saves that a type was forgotten.
  func save(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(epoch, for: Self.key(type))
  }

  /// The deletion that remains of a row. A record that no remote had gets a version, which has an epoch.
  static func remnant(of row: StoredRow) -> Tombstone {
    Tombstone(id: row.id, version: row.version == .unversioned ? .undated : row.version)
  }

  /// Whether the state of a row is all that remains of a forgotten record.
  func contain(_ state: StoredState) -> Bool {
    state.isDeleted && state.version != .unversioned && state.version.epoch <= epoch
  }
}

extension StoreSnapshot {
  /// Returns the state of a record; `nil` for one that is unknown or forgotten.
  func knownState(of id: RecordID) throws(SyncError) -> StoredState? {
    guard let state = try state(of: id) else { return nil }
    guard state.isDeleted, let forgotten = try ForgottenRecords.load(id.type, from: self) else {
      return state
    }
    return forgotten.contain(state) ? nil : state
  }
}
