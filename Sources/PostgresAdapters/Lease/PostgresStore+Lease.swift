#if Postgres
  public import SyncModels
  import SyncPorts

  extension PostgresStore {
    /// Takes the lease if it is free, has expired, or has a dead holder.
    ///
    /// The server's clock decides when it has expired. Each holder keeps a lock of its connection,
    /// which ends with it: a dead holder's lease is available at once. A holder whose store is one of
    /// a ``PostgresPool`` has no connection of its own, so its lease is available once it has expired.
    ///
    /// - Throws: `syncAlreadyInProgress` if another holder has it; `storeReadOnly` if the store
    ///   has moved, or the server is a standby; `storeBusy`, `storeFull`, `permissionDenied`,
    ///   `storeNewer`, `storeUnreadable` or `storeFailure` as ``write(_:_:)``. The lease is as it
    ///   was then. If the connection was lost, it may have been taken, but the next one who asks
    ///   gets it at once.
    public func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
      let (context, clock) = (context, configuration.leaseClock)
      return try await writer.run { connection throws(SyncError) -> Lease in
        var isTaking = false
        do throws(SyncError) {
          let (lease, header) = try connection.change(context) {
            (header) throws(SyncError) -> (Lease, StoreHeader) in
            try header.demand(.app)
            let now = clock?() ?? header.now
            try connection.demandFree(header, now)
            let lease = Lease(fence: header.fence + 1, expiresAt: now + duration)
            isTaking = true
            connection.take(lease, for: duration)
            // The entry of this writer may be gone since its last commit.
            connection.token = header.token
            return (lease, header.under(lease))
          }
          if !connection.settings.isLent { connection.heldFences.insert(lease.fence) }
          connection.cache.header = header
          return lease
        } catch {
          // The session may have the lock of a lease that it did not get.
          if isTaking { connection.close() }
          throw error
        }
      }
    }

    /// Extends the lease to a duration from now.
    ///
    /// An expired lease can be renewed too, unless another sync has taken it over.
    ///
    /// - Throws: `leaseLost` if another sync has taken it over, or it was given back; otherwise as
    ///   ``acquireLease(for:)``. The lease ends when it would have, or after a lost connection
    ///   perhaps later.
    public func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
      let (context, clock) = (context, configuration.leaseClock)
      return try await writer.run { connection throws(SyncError) -> Lease in
        let (renewed, header) = try connection.change(context) {
          (header) throws(SyncError) -> (Lease, StoreHeader) in
          try header.demand(.lease(lease))
          let renewed = Lease(fence: lease.fence, expiresAt: (clock?() ?? header.now) + duration)
          connection.enqueue(
            Statement("UPDATE store SET lease_ends_at = $1::bigint") {
              $0.add(renewed.expiresAt.microseconds)
            })
          return (renewed, header.under(renewed))
        }
        connection.cache.header = header
        return renewed
      }
    }

    /// Gives the lease back. Giving back a lost lease does nothing.
    ///
    /// - Throws: `storeBusy`, `storeReadOnly`, `permissionDenied` or `storeFailure` if the store
    ///   cannot note it. The lease then ends when it expires, or with this connection.
    public func release(_ lease: Lease) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in
        var statements = [
          Statement("UPDATE store SET lease_ends_at = NULL, holder = NULL WHERE fence = $1::bigint") {
            $0.add(lease.fence)
          }
        ]
        // Even if the row cannot be written, the released lock shows that the lease has no holder.
        if connection.heldFences.remove(lease.fence) != nil {
          let lock = connection.settings.holderLock(lease.fence)
          statements.insert(Statement("SELECT pg_advisory_unlock(\(lock))", isKept: false), at: 0)
        }
        try connection.change(by: statements)
      }
    }
  }

  extension StoreHeader {
    /// The header as a lease leaves it.
    fileprivate func under(_ lease: Lease) -> StoreHeader {
      var header = self
      (header.fence, header.leaseEnd) = (lease.fence, lease.expiresAt)
      return header
    }
  }

  extension Connection {
    /// Tells of a holder that keeps a lock, before the number of its session.
    private static let session = ", server process "

    /// Refuses a lease that another holder has, and that lives.
    fileprivate func demandFree(_ header: StoreHeader, _ now: Timestamp) throws(SyncError) {
      guard let end = header.leaseEnd, now < end else { return }
      // A session gets a lock that it has. Locks of others are free once their session is gone.
      let isOwn = heldFences.contains(header.fence)
      let lock = settings.holderLock(header.fence)
      let row = try query(
        Statement(
          """
          SELECT holder, CASE WHEN NOT $1::boolean AND holder ~ '\(Self.session)[0-9]+$' \
          THEN pg_try_advisory_xact_lock(\(lock)) ELSE false END FROM store
          """
        ) { $0.add(isOwn) }, during: "taking the lease"
      ).first
      if row?.bool(1) == true { return }
      let holder = row?.optionalText(0)
      throw SyncError(
        .syncAlreadyInProgress, during: "taking the lease",
        """
        \(holder ?? "Another process") is syncing into this store; its lease lasts for another \
        \(Int((end.duration(since: now) / .seconds(1)).rounded(.up))) s unless it is renewed or given back.
        """)
    }

    /// Writes the lease, and takes the lock that shows that its holder lives.
    ///
    /// On the way it forgets the last commits of writers that have been gone or idle for a day. No
    /// transaction asks for its commit that long.
    fileprivate func take(_ lease: Lease, for duration: Duration) {
      let holder = settings.isLent ? "', in a pool'" : "'\(Self.session)' || pg_backend_pid()"
      enqueue(
        Statement(
          """
          WITH gone AS (DELETE FROM commits WHERE at < now() - interval '1 day' AND writer <> $3::bytea) \
          UPDATE store SET fence = $1::bigint, lease_ends_at = $2::bigint, holder = \
          current_setting('application_name') || \(holder)
          """
        ) {
          $0.add(lease.fence)
          $0.add(lease.expiresAt.microseconds)
          $0.add(bytes: settings.writer)
        })
      if !settings.isLent {
        enqueue(Statement("SELECT pg_try_advisory_lock(\(settings.holderLock(lease.fence)))", isKept: false))
      }
      // A holder that was paused inside a transaction must not keep others waiting past its lease.
      setIdleTimeout(min(max(1000, duration.wholeMicroseconds / 1000), 86_400_000))
    }
  }
#endif
