#if Postgres
  import Dispatch
  import SyncModels
  import SyncPorts
  import Synchronization

  /// One read, which its task's cancellation may end at the server.
  final class ReadTicket: Sendable {
    private enum State {
      case waiting
      case reading(StatementCancellation)
      case cancelled
      case over
    }

    private let state = Mutex(State.waiting)

    /// The time that a read may go on after its task was cancelled. Most reads are shorter.
    private static let grace = DispatchTimeInterval.milliseconds(250)

    /// Runs a read on a connection.
    func read<R>(
      on connection: Connection, _ context: TransactionContext,
      _ body: (any StoreSnapshot) throws(SyncError) -> R
    ) throws(SyncError) -> R {
      connection.isAbandoned = { [self] in isCancelled }
      defer {
        connection.isAbandoned = nil
        let wasCancelled = state.withLock { state in
          defer { state = .over }
          if case .cancelled = state { return true }
          return false
        }
        // A cancellation that arrives late must not end the statement of another store.
        if wasCancelled, connection.settings.isLent { connection.close() }
      }
      try enter(.waiting)
      var isRepeated = false
      while true {
        do throws(SyncError) {
          return try connection.read(context) { (snapshot) throws(SyncError) -> R in
            if let cancellation = connection.cancellation { try enter(.reading(cancellation)) }
            return try body(snapshot)
          }
        } catch {
          guard connection.failure?.state == "57014" else {
            if isCancelled { try enter(.waiting) }
            throw error
          }
          try enter(.waiting)
          // The cancellation of the connection's former read may arrive late.
          if isRepeated { throw error }
          isRepeated = true
        }
      }
    }

    private var isCancelled: Bool {
      state.withLock { state in if case .cancelled = state { true } else { false } }
    }

    /// Passes on to a state, unless the read was cancelled.
    private func enter(_ next: State) throws(SyncError) {
      let isCancelled = state.withLock { state in
        if case .cancelled = state { return true }
        state = next
        return false
      }
      guard isCancelled else { return }
      throw SyncError(.cancelled, during: "reading the store", "The task was cancelled.")
    }

    /// Ends the read after a moment, unless it is over by then.
    ///
    /// A read that has not begun by then does not begin.
    func cancelSoon() {
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { [self] in
        // Under the lock, so that the read does not end meanwhile and leave its connection to
        // another.
        state.withLock { state in
          switch state {
          case .cancelled, .over: return
          case .waiting: break
          case .reading(let cancellation): cancellation.cancel()
          }
          state = .cancelled
        }
      }
    }
  }
#endif
