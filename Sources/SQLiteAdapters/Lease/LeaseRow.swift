#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels
  import SyncPorts

  /// The lease as the file stores it.
  struct LeaseRow {
    var fence: Int64
    /// The process that holds the lease, or held it last.
    var holder: String?
    /// Whether the holder locked its byte. An unlocked byte then means that the holder is dead.
    var hasFileLock: Bool
    /// The end of the lease; `nil` after it was given back.
    var expiresAt: Timestamp?
  }

  extension Connection {
    func leaseRow() throws(SyncError) -> LeaseRow {
      let row = try first("SELECT fence, holder, has_file_lock, expires_at FROM lease") { row in
        LeaseRow(
          fence: row.integer(0), holder: row.optionalText(1), hasFileLock: row.integer(2) != 0,
          expiresAt: row.isNull(3) ? nil : Timestamp(microseconds: row.integer(3)))
      }
      if let row { return row }
      throw SyncError(.storeUnreadable, during: "reading the lease", "The store has no lease row.")
    }

    func setLeaseRow(_ row: LeaseRow) throws(SyncError) {
      try run(
        "UPDATE lease SET fence = ?, holder = ?, has_file_lock = ?, expires_at = ?", .number(row.fence),
        .text(row.holder), .number(row.hasFileLock ? 1 : 0), .number(row.expiresAt?.microseconds))
    }

    /// Refuses a lease that another sync took over, or that was given back.
    ///
    /// Call it inside the transaction that it authorizes.
    func demand(_ authority: WriteAuthority) throws(SyncError) {
      guard case .lease(let lease) = authority else { return }
      let row = try leaseRow()
      guard row.fence == lease.fence, row.expiresAt != nil else {
        throw SyncError(
          .leaseLost, during: "writing under lease \(lease.fence)",
          row.fence == lease.fence
            ? "The lease has been given back."
            : "The store's last lease is \(row.fence): another sync took over.")
      }
    }

    /// Takes the lease, and returns the locked file that shows that its holder lives.
    func takeLease(
      for duration: Duration, now: Timestamp, storePath: String
    ) throws(SyncError) -> (Lease, LeaseFile?) {
      try transaction(.write) { () throws(SyncError) in
        try checkIsInPlace()
        try demandKnownLayout()
        try demandPlace(try placeMovedTo())
        let row = try leaseRow()
        // Without the file, only the end of its lease shows that a holder is dead.
        let file = try? LeaseFile(besideStore: storePath)
        if let end = row.expiresAt, now < end, !row.isHolderDead(accordingTo: file) {
          throw SyncError(
            .syncAlreadyInProgress, during: "taking the lease",
            """
            \(row.holder ?? "Another process") is syncing into this store; its lease lasts for another \
            \(Int((end.duration(since: now) / .seconds(1)).rounded(.up))) s unless it is renewed or given back.
            """)
        }
        guard (0..<Int64.max).contains(row.fence) else {
          throw SyncError(
            .storeUnreadable, during: "taking the lease",
            "The store's fencing number is \(row.fence), which no lease can follow: the store is damaged.")
        }
        let lease = Lease(fence: row.fence + 1, expiresAt: now + duration)
        let isLocked = file?.lock(lease.fence) ?? false
        try setLeaseRow(
          LeaseRow(
            fence: lease.fence, holder: "process \(csqlite_process_id())", hasFileLock: isLocked,
            expiresAt: lease.expiresAt))
        return (lease, isLocked ? file : nil)
      }
    }
  }

  extension LeaseRow {
    /// Whether the holder has lost its lock, and is therefore dead.
    fileprivate func isHolderDead(accordingTo file: LeaseFile?) -> Bool {
      hasFileLock && file?.isLocked(fence) == false
    }
  }
#endif
