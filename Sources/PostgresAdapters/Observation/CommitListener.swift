#if Postgres
  import CanonicalSyncCPostgres
  import Dispatch
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Hears the notifications of commits on a connection of its own, while there are followers.
  ///
  /// A notification carries no more than a position. What changed is read from the store's log, so
  /// a listener that was away reads the same that it would have heard. A standby in recovery sends
  /// no notifications, so it is asked for its position now and then.
  final class CommitListener: Sendable {
    private struct State {
      var followers: [Int: ChangeFollower] = [:]
      var nextNumber = 0
      var isListening = false
      var isClosed = false
      /// The position up to which followers know the changes.
      var position: StorePosition?
    }

    private let state = Mutex(State())
    private let settings: ConnectionSettings
    private let context: @Sendable () -> TransactionContext
    private let queue = DispatchQueue(label: "CanonicalSync.postgres.listener")

    /// The longest time until the listener notices that it is not needed any more.
    private static let patience: Int32 = 100
    /// The time between two questions to a standby, which sends no notifications.
    private static let interval = Duration.milliseconds(500)

    init(_ settings: ConnectionSettings, context: @escaping @Sendable () -> TransactionContext) {
      self.settings = settings
      self.context = context
    }

    func add(_ follower: ChangeFollower) -> Int {
      let (number, begins, isClosed) = state.withLock { state -> (Int, Bool, Bool) in
        if state.isClosed { return (0, false, true) }
        state.nextNumber += 1
        state.followers[state.nextNumber] = follower
        if let position = state.position { follower.give(CommittedChanges(.records([]), through: position)) }
        defer { state.isListening = true }
        return (state.nextNumber, !state.isListening, false)
      }
      if isClosed { follower.end() }
      if begins { queue.async { [self] in listen() } }
      return number
    }

    func remove(_ number: Int) {
      _ = state.withLock { $0.followers.removeValue(forKey: number) }
    }

    func close() {
      let followers = state.withLock { state -> [ChangeFollower] in
        state.isClosed = true
        defer { state.followers = [:] }
        return Array(state.followers.values)
      }
      for follower in followers { follower.end() }
    }

    /// Whether to go on; once there is no follower, the next one begins anew.
    private func isNeeded() -> Bool {
      state.withLock { state in
        if !state.followers.isEmpty { return true }
        state.isListening = false
        state.position = nil
        return false
      }
    }

    // MARK: The listening thread

    private func listen() {
      let connection = Connection(settings)
      defer { connection.close() }
      // The connection that listens; another one has heard nothing yet.
      var listening = 0
      var isNotified = false
      var asked = ContinuousClock.now
      var timeline: Int64?
      var pause: Int32 = 50
      while isNeeded() {
        do throws(SyncError) {
          if !connection.isOpen || connection.generation != listening {
            isNotified = try connection.listen()
            listening = connection.generation
            asked = .now
            let now = try connection.timeline()
            // A standby that took over may have lost commits, and number others as those.
            try tell(connection, isAnotherHistory: timeline.map { $0 != now } ?? false)
            timeline = now
            pause = 50
          }
          let hasHeard = connection.waitForNotification(milliseconds: Self.patience) == true
          if hasHeard || !isNotified && ContinuousClock.now - asked >= Self.interval {
            // The standby may have taken over.
            if !isNotified { isNotified = try connection.listen() }
            asked = .now
            try tell(connection, isAnotherHistory: false)
          }
        } catch {
          // The server is away. What is committed meanwhile is in the log.
          listening = 0
          cpostgres_pause(pause)
          pause = min(1000, pause * 2)
        }
      }
    }

    /// Tells the followers what changed since they were told last.
    private func tell(_ connection: Connection, isAnotherHistory: Bool) throws(SyncError) {
      let known = state.withLock { $0.position }
      var changes = try connection.read(context()) { (snapshot) throws(SyncError) in
        try snapshot.changes(after: known)
      }
      if known == changes.position, !isAnotherHistory { return }
      if isAnotherHistory { changes.scope = .everything }
      let told = changes
      state.withLock { state in
        state.position = told.position
        for follower in state.followers.values { follower.give(told) }
      }
    }
  }

  extension Connection {
    /// Opens the connection, and asks for the notifications of the store's commits.
    ///
    /// False for a standby, which refuses that.
    fileprivate func listen() throws(SyncError) -> Bool {
      do throws(PostgresFailure) {
        try open()
      } catch {
        throw error.error(during: "listening for commits")
      }
      let standby = Statement("SELECT pg_is_in_recovery()", isKept: false)
      guard try query(standby, during: "listening for commits").first?.bool(0) == false else { return false }
      _ = try query(Statement("LISTEN \(settings.channel)", isKept: false), during: "listening for commits")
      return true
    }

    /// The number of the server's history, which a standby that takes over begins anew.
    ///
    /// It is the one of the log that is written now: after a promotion, the control file has the
    /// former one until the next checkpoint.
    fileprivate func timeline() throws(SyncError) -> Int64 {
      let sql = """
        SELECT CASE WHEN pg_is_in_recovery() \
        THEN (SELECT min_recovery_end_timeline::bigint FROM pg_control_recovery()) \
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END AS timeline_id
        """
      return try query(Statement(sql, isKept: false), during: "listening for commits").first?.integer(0) ?? 0
    }
  }
#endif
