import SyncCore
public import SyncModels
public import SyncPorts

/// A copy of a store, made by `SQLiteStore.copy(to:)`, a dump of a database, or a backup of files.
///
/// A copy has the identity of its store, as is right for a restore. If both are to take edits or
/// syncs, one of them needs another identity: the names of their edits would be the same.
public enum StoreCopy {
  /// Gives a copy an identity of its own, so that it and its store can both be used.
  ///
  /// Its records, edits and log stay. Its checkpoints are void, so the next sync lists everything.
  /// Edits that were pending when the copy was made keep their idempotency keys: a remote that
  /// remembers keys has one effect of both stores' attempts. No engine may use the copy meanwhile.
  ///
  /// - Returns: The new identity.
  /// - Throws: `invalidConfiguration` for a store whose identity is fixed, and the store's codes.
  ///   The copy then has its former identity.
  @discardableResult
  public static func separate(_ copy: any LocalStore) async throws(SyncError) -> String {
    guard let copy = copy as? any MovableStore else {
      throw SyncError(
        .invalidConfiguration, during: "giving a copy its own identity",
        "The identity of a \(type(of: copy)) is fixed.")
    }
    let identity = (0..<4).map { _ in
      // Eight hexadecimal digits each, leading zeros included.
      String(UInt64(1) << 32 | UInt64(UInt32.random(in: 0 ... .max)), radix: 16).dropFirst()
    }.joined()
    // In this order: a clock with a name of its own harms no store.
    try await copy.write(.app) { (transaction) throws(SyncError) in
      try HybridClock.load(from: transaction).renamed(identity).save(in: transaction)
    }
    try await copy.adopt(identity: identity)
    return identity
  }
}
