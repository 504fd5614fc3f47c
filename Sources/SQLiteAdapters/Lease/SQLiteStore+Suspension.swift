#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import Synchronization

  extension SQLiteStore {
    /// Ends writes, so that the system may suspend the process.
    ///
    /// A system that suspends apps ends one that holds a lock on a shared file meanwhile. After the
    /// return no transaction is open for writing, and no lease is held. Until ``resume()``, writes,
    /// registrations and leases throw `storeBusy`, so a sync that runs ends after its last commit.
    /// Reads go on. Call it when the app goes to the background, after the time that it was given.
    public func suspend() async {
      isSuspended.store(true, ordering: .sequentiallyConsistent)
      // What has begun is completed.
      try? await writer.run { _ in }
      try? await copier.run { _ in }
      heldLeases.withLock { $0 = [] }
    }

    /// Lets writes go on after ``suspend()``.
    public func resume() { isSuspended.store(false, ordering: .sequentiallyConsistent) }

    /// Demands that the store may be written.
    ///
    /// - Throws: `storeBusy`.
    func demandAwake() throws(SyncError) {
      guard isSuspended.load(ordering: .sequentiallyConsistent) else { return }
      throw SyncError(
        .storeBusy, during: "writing the store", "It is suspended until the app calls resume().")
    }
  }
#endif
