public import SyncModels

/// A store of synced records, with transactions over batches and a lease for syncs.
///
/// For implementers: the store carries out atomically what the engine decides. Everything written
/// in one ``write(_:_:)`` becomes visible at once, to other readers and to a process that starts
/// after a crash, or not at all.
public protocol LocalStore: Sendable {
  /// Prepares the store for a schema: creates new types, and adds newly declared fields.
  ///
  /// Records of types that are no longer declared stay. Registering the same schema again changes
  /// nothing. Call it before any read or write of the schema's types.
  ///
  /// - Throws: `storeReadOnly` if a change is needed and the store is read-only.
  /// - Complexity: O(*n*) in the stored records of a type that declares a new field, otherwise
  ///   independent of them.
  func register(_ schema: SyncSchema) async throws(SyncError)

  /// Runs reads over one unchanging state of the store.
  ///
  /// The body is synchronous, so nothing suspends while the snapshot is open. Any number of reads
  /// run beside each other and beside a write. The store may run the body more than once, as after
  /// a lost connection. Only the last run counts.
  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R

  /// Runs reads and writes as one transaction: all of them, or none if the body throws.
  ///
  /// The body is synchronous, so nothing suspends while the transaction is open, and once begun it
  /// is completed even if the task is cancelled. Writes queue; the body sees everything that was
  /// written before. The store may run the body more than once, as after a serialization failure.
  /// Only the last run counts, so the body has no other effects.
  ///
  /// - Throws: What the body throws; `leaseLost` when the authority is a lease that another holder
  ///   took over, detected inside the transaction; `storeBusy`, `storeFull`, `storeReadOnly` or
  ///   `storeFailure` when the store cannot write. Nothing has been written then.
  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R

  /// Acquires the lease, unless another holder has it.
  ///
  /// At most one holder syncs into a store, among all processes.
  ///
  /// - Parameter duration: How long the lease lasts unless it is renewed.
  /// - Throws: `syncAlreadyInProgress` when another holder has it. A lease that has expired is
  ///   taken over, and its holder can no longer commit. `storeBusy`, `storeFull`, `storeReadOnly`
  ///   or `storeFailure` when the store cannot write; the lease is as it was.
  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease

  /// Extends the lease to a duration from now.
  ///
  /// - Throws: `leaseLost` when another holder took it over; `storeBusy`, `storeFull` or
  ///   `storeFailure` when the store cannot write. The lease then ends when it would have.
  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease

  /// Releases the lease, so that the next holder need not wait.
  ///
  /// Releasing a lost lease does nothing.
  func release(_ lease: Lease) async throws(SyncError)
}

/// The authority under which a transaction writes.
public enum WriteAuthority: Hashable, Sendable {
  /// The app's own edit, without a lease.
  ///
  /// After its commit, it survives a power failure.
  case app
  /// A sync: the transaction commits only while the lease is the latest one.
  ///
  /// A power failure may lose the most recent commits, always a suffix. The sync repeats them. But
  /// a commit with an entry whose ``OutboxEntry/sent`` is set survives it, with all before: the
  /// remote may have that edit, so a later one must not take it for unsent.
  case lease(Lease)
}
