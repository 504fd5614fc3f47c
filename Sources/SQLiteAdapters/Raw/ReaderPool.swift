#if SQLite
  import SyncModels
  import Synchronization

  /// A few lanes for reads: each read gets one that is free, or the next to become free.
  final class ReaderPool: Sendable {
    private struct State {
      var idle: [Lane]
      var waiting: [CheckedContinuation<Lane, Never>] = []
    }

    private let lanes: [Lane]
    private let state: Mutex<State>

    init(_ lanes: [Lane]) {
      self.lanes = lanes
      state = Mutex(State(idle: lanes.reversed()))
    }

    /// Runs a read on a lane of its own.
    func run<R: Sendable>(
      _ body: @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let lane = await take()
      defer { giveBack(lane) }
      return try await lane.run(body)
    }

    /// Closes the connections once the reads that have begun are done.
    func close() async {
      for lane in lanes { await lane.close() }
    }

    /// Runs something on every lane, one after another.
    func runOnEach(_ body: @Sendable (Connection) throws(SyncError) -> Void) async throws(SyncError) {
      for lane in lanes { try await lane.run(body) }
    }

    private func take() async -> Lane {
      if let lane = state.withLock({ $0.idle.popLast() }) { return lane }
      return await withCheckedContinuation { continuation in
        let lane = state.withLock { state -> Lane? in
          if let lane = state.idle.popLast() { return lane }
          state.waiting.append(continuation)
          return nil
        }
        if let lane { continuation.resume(returning: lane) }
      }
    }

    private func giveBack(_ lane: Lane) {
      let next = state.withLock { state -> CheckedContinuation<Lane, Never>? in
        if state.waiting.isEmpty {
          state.idle.append(lane)
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.resume(returning: lane)
    }
  }
#endif
