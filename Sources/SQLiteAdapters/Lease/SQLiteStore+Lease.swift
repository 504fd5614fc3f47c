#if SQLite
  public import SyncModels
  import SyncPorts
  import Synchronization

  extension SQLiteStore {
    /// Takes the lease, if nobody has it, if it has run out, or if its holder is dead.
    ///
    /// A dead holder is known by its lock on a byte of the `.lease` file, which the kernel took away; nobody waits for it.
    public func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
      try await writer.run { connection throws(SyncError) -> Lease in
        let (lease, file) = try connection.takeLease(for: duration, now: leaseClock(), storePath: path)
        heldLeases.withLock { $0[lease.fence] = file }
        return lease
      }
    }

    /// Makes the lease last for a duration from now, even one that has run out, as long as nobody took it over.
    public func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
      try await writer.run { connection throws(SyncError) -> Lease in
        try connection.transaction(.write) { () throws(SyncError) -> Lease in
          try connection.demand(.lease(lease))
          let renewed = Lease(fence: lease.fence, expiresAt: leaseClock() + duration)
          var row = try connection.leaseRow()
          row.expiresAt = renewed.expiresAt
          try connection.setLeaseRow(row)
          return renewed
        }
      }
    }

    /// Gives the lease back. Giving back a lost one does nothing.
    public func release(_ lease: Lease) async throws(SyncError) {
      // Even if the row cannot be written, others then see that nobody holds the lease.
      defer { heldLeases.withLock { _ = $0.removeValue(forKey: lease.fence) } }
      try await writer.run { connection throws(SyncError) in
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
