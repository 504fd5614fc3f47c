public import SyncModels

/// The place where synced records are kept: transactions over batches, and a lease for the one who syncs.
///
/// For whoever implements it: the store does what it is told, atomically; what a page means is the engine's
/// to say. Everything written in one ``write(_:_:)`` becomes visible at once, to other readers and to a process that
/// starts after a crash, or not at all.
public protocol LocalStore: Sendable {
  /// Makes the store fit for a schema: creates what a type needs, and adds what a changed declaration lacks.
  ///
  /// Records of types that are no longer declared stay. Registering the same schema again changes nothing. It has to be called
  /// before any read or write of the schema's types.
  ///
  /// - Throws: `storeReadOnly` if something would have to be changed and cannot be.
  /// - Complexity: O(*n*) in the stored records of a type that declares a new field, otherwise independent of them.
  func register(_ schema: SyncSchema) async throws(SyncError)

  /// Runs reads over one unchanging state of the store.
  ///
  /// The body is synchronous, so nothing suspends while the snapshot is open. Any number of reads run beside each other and beside a
  /// write.
  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R

  /// Runs reads and writes as one transaction: whole, or not at all when the body throws.
  ///
  /// The body is synchronous, so nothing suspends while the transaction is open, and once begun it is completed
  /// even if the task is cancelled. Writes queue; the body sees all that was written before.
  ///
  /// - Throws: What the body throws; `leaseLost` when the authority is a lease that somebody took over, found out
  ///   inside the transaction; `storeBusy`, `storeFull`, `storeReadOnly` or `storeFailure` when the store cannot. Nothing has been
  ///   written then.
  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R

  /// Takes the lease, if nobody has it: at most one holder syncs into a store, among all processes.
  ///
  /// - Parameter duration: How long the lease lasts unless it is renewed.
  /// - Throws: `syncAlreadyInProgress` when another holder has it. A lease that has run out is taken over, and
  ///   its holder can no longer commit.
  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease

  /// Makes the lease last for a duration from now.
  ///
  /// - Throws: `leaseLost` when somebody took it over.
  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease

  /// Gives the lease back, so that the next one need not wait. Giving back a lost one does nothing.
  func release(_ lease: Lease) async throws(SyncError)
}

/// By which right something is written.
public enum WriteAuthority: Hashable, Sendable {
  /// The app's own edit, which needs no lease, and which outlasts a power failure once it is committed.
  case app
  /// A sync's: the transaction commits only while the lease is the latest one. A power failure may take the last ones back, none without
  /// all that came after it; the sync does them again.
  case lease(Lease)
}
