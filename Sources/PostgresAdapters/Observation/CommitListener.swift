#if Postgres
  import CanonicalSyncCPostgres
  import Dispatch
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Hears the notifications of commits on a connection of its own, while stores are observed.
  ///
  /// A store has a listener of its own, and the stores of a pool have one together. A notification
  /// carries no more than a position. What changed is read from the store's log, so a listener that
  /// was away reads the same that it would have heard. A standby in recovery sends no notifications,
  /// and a pooler that lends sessions passes none on, so they are asked for positions now and then.
  ///
  /// No thread waits: Dispatch watches the sockets of all listeners, and a few queues for each
  /// server do what is due.
  final class CommitListener: Sendable {
    /// The connection that listens, and what is known of its server.
    fileprivate struct Ear {
      let connection: Connection
      var watch: (any DispatchSourceRead)?
      /// The connection that listens; another one has heard nothing yet.
      var generation = 0
      var isNotified = false
      /// The channels whose notifications were asked for.
      var channels: Set<String> = []
      var asked = ContinuousClock.now
      var pause: Int32 = 50
      /// The number of the appointment that counts.
      var appointment = 0
    }

    private let stores = Mutex<[FollowedStore]>([])
    private let ear = Mutex<Ear?>(nil)
    private let memory: StoreMemory
    private let patience: Duration
    private let queue: DispatchQueue

    /// The time between two questions to a server that sends no notifications.
    private static let interval: Int32 = 500
    private static let lanes = Mutex<[String: [DispatchQueue]]>([:])

    /// - Parameters:
    ///   - memory: What is known of the store, or how a pool connects.
    ///   - patience: How long it tries to hear a server for a store that never has.
    init(_ memory: StoreMemory, patience: Duration) {
      self.memory = memory
      self.patience = patience
      queue = DispatchQueue(label: "CanonicalSync.postgres.listener", target: Self.lane(of: memory.settings))
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

    /// Hears for a store as long as it is needed.
    func hear(_ store: FollowedStore) {
      let isNew = stores.withLock { stores in
        if stores.contains(where: { $0 === store }) { return false }
        stores.append(store)
        return true
      }
      if isNew || store.position == nil { attend() }
    }

    /// Does soon what is due.
    func attend() { queue.async { [self] in listen() } }

    /// Does after a time what is due then.
    func attend(after pause: Duration, _ isComing: @escaping @Sendable () -> Void) {
      queue.asyncAfter(deadline: .now() + pause / .seconds(1)) { [self] in
        isComing()
        listen()
      }
    }

    /// Ends the followers of all stores.
    func close() {
      for store in stores.withLock({ $0 }) { store.close() }
    }

    // MARK: On the queue

    /// Does what is due: connects, tells what was heard, asks for positions, or ends.
    ///
    /// - Parameter appointment: The number of the appointment that it comes to, unless it comes
    ///   otherwise.
    private func listen(appointment: Int? = nil) {
      ear.withLock { (ear: inout sending Ear?) in
        let needed = stores.withLock { stores in
          stores.removeAll { !$0.isNeeded }
          return stores
        }
        guard !needed.isEmpty else {
          ear?.close()
          ear = nil
          return
        }
        var now = ear ?? Ear(connection: Connection(memory))
        defer { ear = now }
        if let appointment, appointment != now.appointment { return }
        do throws(SyncError) {
          try hear(&now, needed)
          now.pause = 50
          // Without notifications, or a socket to watch, time has to tell.
          if !now.isNotified || now.watch == nil { meet(&now, after: Self.interval) }
        } catch {
          // The server is away. What is committed meanwhile is in the log.
          now.close()
          let isFinal = !error.mayPass
          for store in needed { store.fail(error, isFinal: isFinal, patience: patience) }
          meet(&now, after: now.pause)
          now.pause = min(1000, now.pause * 2)
        }
      }
    }

    private func hear(_ ear: inout Ear, _ stores: [FollowedStore]) throws(SyncError) {
      let connection = ear.connection
      var due = stores.filter { $0.position == nil }
      if !connection.isOpen || connection.generation != ear.generation {
        ear.close()
        ear.isNotified = try connection.sendsNotifications()
        ear.generation = connection.generation
        ear.asked = .now
        watch(&ear)
        due = stores
      } else if !ear.isNotified, ContinuousClock.now - ear.asked >= .milliseconds(Int64(Self.interval)) {
        // The standby may have taken over.
        ear.isNotified = try connection.sendsNotifications()
        ear.asked = .now
        due = try connection.moved(among: stores)
      }
      if ear.isNotified { try ask(&ear, for: stores) }
      for store in due { try tell(store, connection) }
      while true {
        // Also what came while another result was awaited, which no longer shows at the socket.
        let channels = try connection.heardChannels()
        if channels.isEmpty { return }
        for store in stores where channels.contains(store.channel) {
          try tell(store, connection)
        }
      }
    }

    /// Asks for the notifications of the stores that are followed, and of no others.
    private func ask(_ ear: inout Ear, for stores: [FollowedStore]) throws(SyncError) {
      let channels = Set(stores.map(\.channel))
      for channel in ear.channels.subtracting(channels) {
        ear.connection.enqueue(Statement("UNLISTEN \(channel)", isKept: false))
      }
      for channel in channels.subtracting(ear.channels) {
        ear.connection.enqueue(Statement("LISTEN \(channel)", isKept: false))
      }
      try ear.connection.flush(during: "listening for commits")
      ear.channels = channels
    }

    private func tell(_ store: FollowedStore, _ connection: Connection) throws(SyncError) {
      do throws(SyncError) {
        try store.tell(connection)
      } catch {
        if error.mayPass { throw error }
        // The other stores of a pool are heard.
        store.fail(error, isFinal: true, patience: .zero)
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
  }

  extension SyncError {
    /// Whether another attempt may help.
    fileprivate var mayPass: Bool {
      code == .storeBusy || (underlying as? PostgresFailure)?.isConnectionLost == true
    }
  }

  extension CommitListener.Ear {
    /// Ends the connection; the next one hears from the log what it misses.
    fileprivate mutating func close() {
      watch?.cancel()
      (watch, generation, channels) = (nil, 0, [])
      connection.close()
    }
  }

  extension Connection {
    /// The channels of the notifications that have come.
    fileprivate func heardChannels() throws(SyncError) -> Set<String> {
      guard let channels = notifications() else {
        throw PostgresFailure.lost.error(during: "listening for commits")
      }
      return channels
    }

    /// Opens the connection, and returns whether the server sends it notifications.
    ///
    /// A standby does not, nor does a pooler that lends sessions.
    fileprivate func sendsNotifications() throws(SyncError) -> Bool {
      do throws(PostgresFailure) {
        try open()
      } catch {
        throw error.error(during: "listening for commits")
      }
      if settings.isLent, session?.isPooled == true { return false }
      let standby = Statement("SELECT pg_is_in_recovery()", isKept: false)
      return try query(standby, during: "listening for commits").first?.bool(0) == false
    }

    /// The stores that have another position than their followers know, by a statement for many.
    fileprivate func moved(among stores: [FollowedStore]) throws(SyncError) -> [FollowedStore] {
      if stores.count == 1 { return stores }
      var moved: [FollowedStore] = []
      var rest = stores[...]
      while !rest.isEmpty {
        let portion = Array(rest.prefix(100))
        rest = rest.dropFirst(100)
        let reads = portion.enumerated().map { place, store in
          "SELECT \(place)::bigint, position FROM \(store.settings.searchPath).store"
        }
        let statement = Statement(reads.joined(separator: " UNION ALL "), isKept: false)
        do throws(SyncError) {
          for row in try query(statement, during: "looking for commits") {
            let store = portion[Int(row.integer(0))]
            if store.position?.number != row.integer(1) { moved.append(store) }
          }
        } catch {
          // One of them may be gone, which shows when it is told.
          guard failure?.state.hasPrefix("42") == true else { throw error }
          rollback()
          failure = nil
          moved += portion
        }
      }
      return moved
    }
  }
#endif
