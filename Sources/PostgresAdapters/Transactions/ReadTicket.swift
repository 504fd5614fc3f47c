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
      defer { state.withLock { $0 = .over } }
      var isRepeated = false
      while true {
        do throws(SyncError) {
          return try connection.read(context) { (snapshot) throws(SyncError) -> R in
            if let cancellation = connection.cancellation {
              state.withLock { if case .waiting = $0 { $0 = .reading(cancellation) } }
            }
            return try body(snapshot)
          }
        } catch {
          guard connection.failure?.state == "57014" else { throw error }
          if state.withLock({ if case .cancelled = $0 { true } else { false } }) {
            throw SyncError(.cancelled, during: "reading the store", "The task was cancelled.")
          }
          // The cancellation of the connection's former read may arrive late.
          if isRepeated { throw error }
          isRepeated = true
          state.withLock { $0 = .waiting }
        }
      }
    }

    /// Ends the read after a moment, unless it is over by then.
    func cancelSoon() {
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.grace) { [self] in
        // Under the lock, so that the read does not end meanwhile and leave its connection to
        // another.
        state.withLock { state in
          guard case .reading(let cancellation) = state else { return }
          state = .cancelled
          cancellation.cancel()
        }
      }
    }
  }
#endif
