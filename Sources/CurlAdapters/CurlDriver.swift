#if Curl && os(Linux)
  import CanonicalSyncCCurl
  import HTTPAdapters
  import SyncModels
  import Synchronization

  /// The thread that moves the bytes of transfers.
  ///
  /// The first transfer starts the thread. It ends when no transfer and no connection is left.
  final class CurlDriver: Sendable {
    /// The driver of the process.
    static let shared = CurlDriver(idleTime: .seconds(60))

    /// The pending orders, which the thread follows before it moves more bytes.
    struct Orders {
      var begun: [(transfer: Transfer, options: CurlTransport.Options)] = []
      var givenUp: [Transfer] = []

      var isEmpty: Bool { begun.isEmpty && givenUp.isEmpty }
    }

    private struct State {
      var orders = Orders()
      var isRunning = false
      /// Wakes the thread, once there is a loop.
      var waker: CurlLoop.Waker?
    }

    private let state = Mutex(State())
    /// The longest idle time of a kept connection.
    private let idleTime: Duration

    init(idleTime: Duration) {
      self.idleTime = idleTime
    }

    /// Whether the thread is running.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func begin(_ transfer: Transfer, _ options: CurlTransport.Options) {
      let isFirst = state.withLock { state in
        state.orders.begun.append((transfer, options))
        // Under the lock: otherwise the loop to wake may be gone.
        state.waker?.wake()
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if isFirst { start() }
    }

    func giveUp(_ transfer: Transfer) {
      state.withLock { state in
        guard state.isRunning else { return }
        state.orders.givenUp.append(transfer)
        state.waker?.wake()
      }
    }

    private func start() {
      let number = ccurl_start_thread(
        { context in
          guard let context else { return nil }
          Unmanaged<CurlDriver>.fromOpaque(context).takeRetainedValue().run()
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
      guard number != 0 else { return }
      Unmanaged.passUnretained(self).release()
      stop { CurlFailure.noResources(number, $0.request) }
    }

    /// The thread's body.
    private func run() {
      guard let loop = CurlLoop(idleTime: idleTime) else {
        return stop { CurlFailure.noResources(EMFILE, $0.request) }
      }
      state.withLock { $0.waker = loop.waker }
      var idleSince = ContinuousClock.now
      repeat {
        if loop.turn(take()) || !loop.isIdle { idleSince = .now }
      } while !loop.hasFailed && !isOver(after: loop.isIdle ? idleSince.duration(to: .now) : .zero)
      // The loop must outlive the last reference to its waker.
      withExtendedLifetime(loop) {
        if loop.hasFailed { stop { CurlFailure.noResources(EMFILE, $0.request) } }
      }
    }

    private func take() -> Orders {
      state.withLock { state in
        defer { state.orders = Orders() }
        return state.orders
      }
    }

    /// Ends the thread if it has been idle for long and has no work.
    private func isOver(after idle: Duration) -> Bool {
      guard idle >= idleTime else { return false }
      return state.withLock { state in
        guard state.orders.isEmpty else { return false }
        state.isRunning = false
        state.waker = nil
        return true
      }
    }

    /// Ends the thread because of a failure.
    private func stop(_ failure: (Transfer) -> SyncError) {
      let orders = state.withLock { state in
        defer { state = State() }
        return state.orders
      }
      for order in orders.begun { order.transfer.complete(failure(order.transfer)) }
    }
  }
#endif
