import SyncModels
import SyncPorts

/// What an account has left of a type in a store that was made to forget it.
///
/// The rows stay, deleted, for the sake of their versions. They say nothing about what another account
/// has under the same keys: above all, nobody has deleted a record there.
struct FormerAccount {
  /// The type's epoch when the account was forgotten. The next sync begins another one.
  let epoch: Int64

  private static func key(_ type: RecordType) -> ValueKey<Int64> { ValueKey(.edits, "former/\(type)") }

  /// Saves what remains of a type.
  func save(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(epoch, for: Self.key(type))
  }

  /// The deletion that remains of a row. A record that no remote had gets a version, which has an epoch.
  static func remnant(of row: StoredRow) -> Tombstone {
    Tombstone(id: row.id, version: row.version == .unversioned ? .undated : row.version)
  }

  /// Whether a state is all that remains of a record.
  ///
  /// - Parameter type: The record's type.
  static func left(
    _ state: StoredState, of type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    guard state.isDeleted, state.version != .unversioned, let epoch = try snapshot.value(of: key(type)) else {
      return false
    }
    return state.version.epoch <= epoch
  }
}

extension StoreSnapshot {
  /// Returns the state of a record; `nil` for one that is unknown to this account.
  func knownState(of id: RecordID) throws(SyncError) -> StoredState? {
    guard let state = try state(of: id) else { return nil }
    return try FormerAccount.left(state, of: id.type, in: self) ? nil : state
  }
}
