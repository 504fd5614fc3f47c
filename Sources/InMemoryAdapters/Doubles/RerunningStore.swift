package import SyncModels
package import SyncPorts

/// A store that runs the body of each write twice, and keeps the second run alone.
///
/// A store may run a body again, such as after a serialization failure. What differs over this one is an effect that a body
/// has outside its transaction.
package struct RerunningStore<Base: LocalStore>: ForwardingStore {
  package let base: Base

  /// Runs bodies twice over a store.
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
      // A store that runs a body again tells nothing of the run before, its error included.
    }
    return try await base.write(authority, body)
  }
}
