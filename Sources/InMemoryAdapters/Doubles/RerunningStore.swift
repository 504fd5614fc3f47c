package import SyncModels
package import SyncPorts

/// A store that runs the body of each write twice, and keeps the second run.
///
/// A store may repeat a body, for example after a serialization failure. A difference over this
/// store is an effect that a body has outside its transaction.
package struct RerunningStore<Base: LocalStore>: ForwardingStore {
  package let base: Base

  /// Creates a store that runs bodies twice over another store.
  package init(_ base: Base) {
    self.base = base
  }

  package func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    do throws(SyncError) {
      try await base.write(authority) { (transaction) throws(SyncError) in
        _ = try body(transaction)
        throw SyncError(.storeBusy, during: "writing", "The transaction has to be run again.")
      }
    } catch {
      // A store that repeats a body reports nothing of the earlier run, including its error.
    }
    return try await base.write(authority, body)
  }
}
