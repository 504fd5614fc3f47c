#if Postgres
  import SyncModels
  import SyncPorts
  import Synchronization

  /// A store as its followers see it: what they know, and why they have ended.
  final class FollowedStore: Sendable {
    /// Who waits for a position.
    private struct Waiter {
      let isReached: @Sendable (Int64) -> Bool
      let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
      var followers: [Int: ChangeFollower] = [:]
      var waiters: [Int: Waiter] = [:]
      /// The time of the last wait.
      var waited: ContinuousClock.Instant?
      /// Whether the listener will be asked to end.
      var isEndDue = false
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

    /// How long the store is heard after the last wait.
    private static let afterwards = Duration.seconds(5)

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

    // MARK: Waits

    /// Waits for a position.
    ///
    /// - Parameter isReached: Whether a position ends the wait.
    /// - Returns: Whether it was reached; `false` also while the server is not heard.
    func wait(until isReached: @escaping @Sendable (Int64) -> Bool) async -> Bool {
      let number = state.withLock { state in
        state.nextNumber += 1
        return state.nextNumber
      }
      defer {
        state.withLock { $0.waited = .now }
        askForTheEnd()
      }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let result = state.withLock { state -> Bool? in
            state.waited = .now
            if state.isClosed || state.failure != nil || Task.isCancelled { return false }
            if let position = state.position, isReached(position.number) { return true }
            state.waiters[number] = Waiter(isReached: isReached, continuation: continuation)
            return nil
          }
          if let result { continuation.resume(returning: result) }
          if result != true { listener.hear(self) }
        }
      } onCancel: {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: false)
      }
    }

    /// Has the listener look, some time after the last wait, whether it is still needed.
    private func askForTheEnd() {
      let rest = state.withLock { state -> Duration? in
        guard !state.isClosed, !state.isEndDue, state.waiters.isEmpty, let waited = state.waited else {
          return nil
        }
        let passed = ContinuousClock.now - waited
        if passed >= Self.afterwards { return nil }
        state.isEndDue = true
        return Self.afterwards - passed
      }
      guard let rest else { return }
      listener.attend(after: rest) { [self] in
        state.withLock { $0.isEndDue = false }
        // There may have been a wait since.
        askForTheEnd()
      }
    }

    /// Looks at the waits again, as the number of lost connections may end them.
    func reconsiderWaits() {
      guard let position else { return }
      endWaits(with: true) { isReached in isReached(position.number) }
    }

    // MARK: For the listener

    /// Whether something follows or waits, or did some seconds ago; once nothing does, the next one
    /// begins anew.
    var isNeeded: Bool {
      state.withLock { state in
        let hasWaited = state.waited.map { ContinuousClock.now - $0 < Self.afterwards } ?? false
        let isNeeded =
          !state.isClosed && (!state.followers.isEmpty || !state.waiters.isEmpty || hasWaited)
        if !isNeeded { state.position = nil }
        return isNeeded
      }
    }

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
      if ends { end { _ in } } else { endWaits(with: false) { _ in true } }
    }

    private func endWaits(with result: Bool, where isOver: (@Sendable (Int64) -> Bool) -> Bool) {
      let waiters = state.withLock { state in
        let over = state.waiters.filter { isOver($0.value.isReached) }
        for number in over.keys { state.waiters[number] = nil }
        return over.values.map(\.continuation)
      }
      for waiter in waiters { waiter.resume(returning: result) }
    }

    private func end(_ change: (inout State) -> Void) {
      let followers = state.withLock { state in
        change(&state)
        defer { state.followers = [:] }
        return Array(state.followers.values)
      }
      for follower in followers { follower.end() }
      endWaits(with: false) { _ in true }
    }

    /// Tells the followers what changed since they were told last.
    func tell(_ connection: Connection) throws(SyncError) {
      if let opening {
        connection.enter(StoreMemory(settings, connection.memory.losses))
        try opening.complete(on: connection)
      }
      let (known, isFollowed) = state.withLock { ($0.position, !$0.followers.isEmpty) }
      var changes = try connection.read(context()) { (snapshot) throws(SyncError) in
        // Who only waits has no use for the records.
        try snapshot.changes(after: isFollowed ? known : nil)
      }
      state.withLock { ($0.failure, $0.failingSince) = (nil, nil) }
      if known == changes.position { return }
      if !isFollowed, known != nil { changes.scope = .everything }
      let told = changes
      state.withLock { state in
        // The followers of now may have come while nothing was heard, or after the read.
        if state.position != known { return }
        state.position = told.position
        for follower in state.followers.values { follower.give(told) }
      }
      endWaits(with: true) { isReached in isReached(told.position.number) }
    }
  }
#endif
