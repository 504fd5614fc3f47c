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
  ///
  /// No thread waits: Dispatch watches the sockets of all listeners, and a few queues for each
  /// server do what is due.
  final class CommitListener: Sendable {
    fileprivate struct State {
      var followers: [Int: ChangeFollower] = [:]
      var nextNumber = 0
      var isListening = false
      var isClosed = false
      /// The position up to which followers know the changes.
      var position: StorePosition?
      /// Why the last followers were ended, or what is waited out.
      var failure: SyncError?
    }

    /// The connection that listens, and what is known of its server.
    fileprivate struct Ear {
      let connection: Connection
      var watch: (any DispatchSourceRead)?
      /// The connection that listens; another one has heard nothing yet.
      var generation = 0
      var isNotified = false
      var asked = ContinuousClock.now
      var timeline: Int64?
      var pause: Int32 = 50
      var failingSince: ContinuousClock.Instant?
      /// The number of the appointment that counts.
      var appointment = 0
    }

    private let state = Mutex(State())
    private let ear = Mutex<Ear?>(nil)
    private let settings: ConnectionSettings
    private let patience: Duration
    private let context: @Sendable () -> TransactionContext
    private let queue: DispatchQueue

    /// The time between two questions to a standby, which sends no notifications.
    private static let interval: Int32 = 500
    private static let lanes = Mutex<[String: [DispatchQueue]]>([:])

    /// - Parameter patience: How long a listener that has never heard the server tries to.
    init(
      _ settings: ConnectionSettings, patience: Duration,
      context: @escaping @Sendable () -> TransactionContext
    ) {
      self.settings = settings
      self.patience = patience
      self.context = context
      queue = DispatchQueue(label: "CanonicalSync.postgres.listener", target: Self.lane(of: settings))
    }

    /// One of the queues of a server, which keep a silent server's listeners from all threads.
    private static func lane(of settings: ConnectionSettings) -> DispatchQueue? {
      let server = settings.keywords.filter { ["host", "hostaddr", "port", "service"].contains($0.name) }
        .map { "\($0.name)=\($0.value)" }.joined(separator: " ")
      return lanes.withLock { lanes in
        let made =
          lanes[server] ?? (0..<4).map { DispatchQueue(label: "CanonicalSync.postgres.listeners.\($0)") }
        lanes[server] = made
        return made.randomElement()
      }
    }

    /// Why the last followers were ended, or what is waited out.
    var failure: SyncError? { state.withLock { $0.failure } }

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
      let isLast = state.withLock { state in
        state.followers.removeValue(forKey: number) != nil && state.followers.isEmpty
      }
      if isLast { queue.async { [self] in listen() } }
    }

    func close() {
      let followers = state.withLock { state in
        state.isClosed = true
        state.failure = nil
        return state.takeFollowers()
      }
      for follower in followers { follower.end() }
      queue.async { [self] in listen() }
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

    // MARK: On the queue

    /// Does what is due: connects, tells what was heard, asks a standby, or ends.
    ///
    /// - Parameter appointment: The number of the appointment that it comes to, unless it comes
    ///   otherwise.
    private func listen(appointment: Int? = nil) {
      ear.withLock { (ear: inout sending Ear?) in
        guard isNeeded() else {
          ear?.close()
          ear = nil
          return
        }
        var now = ear ?? Ear(connection: Connection(settings))
        defer { ear = now }
        if let appointment, appointment != now.appointment { return }
        do throws(SyncError) {
          try hear(&now)
          if now.failingSince != nil { state.withLock { $0.failure = nil } }
          (now.failingSince, now.pause) = (nil, 50)
          // Without notifications, or a socket to watch, time has to tell.
          if !now.isNotified || now.watch == nil { meet(&now, after: Self.interval) }
        } catch {
          // The server is away. What is committed meanwhile is in the log.
          now.close()
          let since = now.failingSince ?? .now
          now.failingSince = since
          if isFinal(error, since: since) { return end(by: error) }
          state.withLock { $0.failure = error }
          meet(&now, after: now.pause)
          now.pause = min(1000, now.pause * 2)
        }
      }
    }

    private func hear(_ ear: inout Ear) throws(SyncError) {
      let connection = ear.connection
      if !connection.isOpen || connection.generation != ear.generation {
        ear.close()
        ear.isNotified = try connection.listen()
        ear.generation = connection.generation
        let now = try connection.timeline()
        // A standby that took over may have lost commits, and number others as those.
        try tell(connection, isAnotherHistory: ear.timeline.map { $0 != now } ?? false)
        ear.timeline = now
        ear.asked = .now
        watch(&ear)
      }
      // Also what came while another result was awaited, which no longer shows at the socket.
      var hasHeard = try connection.hasHeard()
      if !ear.isNotified, ContinuousClock.now - ear.asked >= .milliseconds(Int64(Self.interval)) {
        // The standby may have taken over.
        ear.isNotified = try connection.listen()
        hasHeard = true
      }
      while hasHeard {
        ear.asked = .now
        try tell(connection, isAnotherHistory: false)
        hasHeard = try connection.hasHeard()
      }
    }

    /// Asks Dispatch to tell when the server has sent something.
    private func watch(_ ear: inout Ear) {
      guard let socket = ear.connection.socketCopy() else { return }
      let watch = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
      watch.setEventHandler { [weak self] in self?.listen() }
      watch.setCancelHandler { cpostgres_close(socket) }
      watch.resume()
      ear.watch = watch
    }

    private func meet(_ ear: inout Ear, after milliseconds: Int32) {
      ear.appointment += 1
      let number = ear.appointment
      queue.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) { [self] in
        listen(appointment: number)
      }
    }

    /// Whether another attempt would not help, or the first one has taken longer than the patience.
    private func isFinal(_ error: SyncError, since: ContinuousClock.Instant) -> Bool {
      let isLost = (error.underlying as? PostgresFailure)?.isConnectionLost == true
      if !isLost, error.code != .storeBusy { return true }
      return state.withLock { $0.position } == nil && ContinuousClock.now - since >= patience
    }

    /// Ends the followers, which can ask for the reason.
    private func end(by error: SyncError) {
      let followers = state.withLock { state in
        if !state.isClosed { state.failure = error }
        (state.isListening, state.position) = (false, nil)
        return state.takeFollowers()
      }
      for follower in followers { follower.end() }
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

  extension CommitListener.State {
    fileprivate mutating func takeFollowers() -> [ChangeFollower] {
      defer { followers = [:] }
      return Array(followers.values)
    }
  }

  extension CommitListener.Ear {
    /// Ends the connection; the next one hears from the log what it misses.
    fileprivate mutating func close() {
      watch?.cancel()
      (watch, generation) = (nil, 0)
      connection.close()
    }
  }

  extension Connection {
    /// Whether a notification has come.
    fileprivate func hasHeard() throws(SyncError) -> Bool {
      guard let hasHeard = waitForNotification(milliseconds: 0) else {
        throw PostgresFailure.lost.error(during: "listening for commits")
      }
      return hasHeard
    }

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
