#if SQLite
  import CanonicalSyncDatabases
  public import SyncModels
  import SyncPorts
  import Synchronization

  extension SQLiteStore {
    /// Takes the lease if it is free, has expired, or has a dead holder.
    ///
    /// Each holder locks a byte of the `.lease` file, and the kernel releases the lock of a dead
    /// one. A dead holder's lease is available at once.
    public func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
      try await writer.run { connection throws(SyncError) -> Lease in
        try demandAwake()
        let (lease, file) = try connection.takeLease(for: duration, now: leaseClock(), storePath: path)
        if let file { heldLeases.withLock { $0.append((lease.fence, file)) } }
        return lease
      }
    }

    /// Extends the lease to a duration from now.
    ///
    /// An expired lease can be renewed too, unless another sync has taken it over.
    public func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
      try await writer.run { connection throws(SyncError) -> Lease in
        try demandAwake()
        return try connection.transaction(.write) { () throws(SyncError) -> Lease in
          try connection.demandKnownLayout()
          try connection.demand(.lease(lease))
          let renewed = Lease(fence: lease.fence, expiresAt: leaseClock() + duration)
          var row = try connection.leaseRow()
          row.expiresAt = renewed.expiresAt
          try connection.setLeaseRow(row)
          return renewed
        }
      }
    }

    /// Gives the lease back. Giving back a lost lease does nothing.
    public func release(_ lease: Lease) async throws(SyncError) {
      // Even if the row cannot be written, the released lock shows that the lease has no holder.
      defer { heldLeases.withLock { $0.removeAll { $0.fence == lease.fence } } }
      try await writer.run { connection throws(SyncError) in
        try demandAwake()
        // A sync's edits, new records and pages are of little use after it, and take memory.
        connection.cache.forget()
        defer { connection.releasePages() }
        try connection.transaction(.write) { () throws(SyncError) in
          var row = try connection.leaseRow()
          guard row.fence == lease.fence, row.expiresAt != nil else { return }
          row.expiresAt = nil
          row.holder = nil
          try connection.setLeaseRow(row)
        }
      }
    }
  }
#endif
