#if Postgres
  import SyncModels
  import SyncPorts
  import Synchronization

  /// A store as its followers see it: what they know, and why they have ended.
  final class FollowedStore: Sendable {
    private struct State {
      var followers: [Int: ChangeFollower] = [:]
      var nextNumber = 0
      var isClosed = false
      /// The position up to which followers know the changes.
      var position: StorePosition?
      /// Why the last followers were ended, or what is waited out.
      var failure: SyncError?
      var failingSince: ContinuousClock.Instant?
    }

    let settings: ConnectionSettings
    /// The opening of a store of a pool; `nil` for one that is open.
    private let opening: StoreOpening?
    private let context: @Sendable () -> TransactionContext
    private let listener: CommitListener
    private let state = Mutex(State())

    init(
      _ settings: ConnectionSettings, _ listener: CommitListener, _ opening: StoreOpening?,
      context: @escaping @Sendable () -> TransactionContext
    ) {
      (self.settings, self.listener, self.opening, self.context) = (settings, listener, opening, context)
    }

    /// The name under which the store's commits are notified.
    var channel: String { settings.channel }

    /// The position up to which followers know the changes; `nil` before the first.
    var position: StorePosition? { state.withLock { $0.position } }

    /// Why the last followers were ended, or what is waited out.
    var failure: SyncError? { state.withLock { $0.failure } }

    // MARK: Followers

    func add(_ follower: ChangeFollower) -> Int {
      let (number, isClosed) = state.withLock { state -> (Int, Bool) in
        if state.isClosed { return (0, true) }
        state.nextNumber += 1
        state.followers[state.nextNumber] = follower
        if let position = state.position { follower.give(CommittedChanges(.records([]), through: position)) }
        return (state.nextNumber, false)
      }
      if isClosed { follower.end() } else { listener.hear(self) }
      return number
    }

    func remove(_ number: Int) {
      let isLast = state.withLock { state in
        state.followers.removeValue(forKey: number) != nil && state.followers.isEmpty
      }
      if isLast { listener.attend() }
    }

    func close() {
      end { state in (state.isClosed, state.failure) = (true, nil) }
      listener.attend()
    }

    // MARK: For the listener

    /// Whether something follows; once nothing does, the next follower begins anew.
    var isNeeded: Bool {
      state.withLock { state in
        if state.followers.isEmpty { state.position = nil }
        return !state.followers.isEmpty
      }
    }

    /// Notes that the server is heard.
    func heard() { state.withLock { ($0.failure, $0.failingSince) = (nil, nil) } }

    /// Notes why the server is not heard, and ends the followers unless that is waited out.
    ///
    /// - Parameters:
    ///   - isFinal: Whether another attempt would not help.
    ///   - patience: How long followers wait that have never heard the server.
    func fail(_ error: SyncError, isFinal: Bool, patience: Duration) {
      let ends = state.withLock { state in
        let since = state.failingSince ?? .now
        (state.failingSince, state.failure) = (since, state.isClosed ? nil : error)
        let isOver = isFinal || state.position == nil && ContinuousClock.now - since >= patience
        if isOver { (state.failingSince, state.position) = (nil, nil) }
        return isOver
      }
      if ends { end { _ in } }
    }

    private func end(_ change: (inout State) -> Void) {
      let followers = state.withLock { state in
        change(&state)
        defer { state.followers = [:] }
        return Array(state.followers.values)
      }
      for follower in followers { follower.end() }
    }

    /// Tells the followers what changed since they were told last.
    func tell(_ connection: Connection, isAnotherHistory: Bool) throws(SyncError) {
      if let opening {
        connection.enter(StoreMemory(settings, connection.memory.losses))
        try opening.complete(on: connection)
      }
      let known = position
      var changes = try connection.read(context()) { (snapshot) throws(SyncError) in
        try snapshot.changes(after: known)
      }
      if known == changes.position, !isAnotherHistory { return }
      if isAnotherHistory { changes.scope = .everything }
      let told = changes
      state.withLock { state in
        // The followers of now may have come while nothing was heard.
        if state.position != known { return }
        state.position = told.position
        for follower in state.followers.values { follower.give(told) }
      }
    }
  }
#endif
