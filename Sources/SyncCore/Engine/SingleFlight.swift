import SyncModels
import SyncPorts
import Synchronization

/// Lets one caller through at a time; the others are refused, or share its result.
final class SingleFlight: Sendable {
  private typealias Landing = Result<SyncResult, SyncError>
  private struct State {
    var isFlying = false
    var nextID = 0
    var joiners: [Int: CheckedContinuation<Landing?, Never>] = [:]
  }
  private let state = Mutex(State())

  /// Runs the body, or waits for the one that is running.
  ///
  /// - Throws: What the body throws; `syncAlreadyInProgress` for a second caller that asks to be refused.
  func run(
    ifBusy: SyncRequest.Busy, stop: StopSignal, clock: any Clock<Duration>,
    _ body: () async throws(SyncError) -> SyncResult
  ) async throws(SyncError) -> SyncResult {
    while !takeOff() {
      guard ifBusy == .join else {
        throw SyncError(
          .syncAlreadyInProgress, during: "starting a sync", "A sync is running in this process.")
      }
      // A leader that was stopped leaves its work to whoever still wants it.
      if let landing = await join(stop: stop, clock: clock), !landing.wasCancelled {
        return try landing.get()
      }
      if stop.isRaised { return SyncResult(wasCancelled: true) }
    }
    let landing: Landing
    do throws(SyncError) {
      landing = .success(try await body())
    } catch {
      landing = .failure(error)
    }
    land(landing)
    return try landing.get()
  }

  private func takeOff() -> Bool {
    state.withLock { state in
      guard !state.isFlying else { return false }
      state.isFlying = true
      return true
    }
  }

  private func land(_ landing: Landing) {
    let joiners = state.withLock { state in
      state.isFlying = false
      defer { state.joiners = [:] }
      return state.joiners.inOrderOfArrival
    }
    for joiner in joiners { joiner.resume(returning: landing) }
  }

  /// Waits for the landing; `nil` if the joiner was stopped before, or came too late.
  private func join(stop: StopSignal, clock: any Clock<Duration>) async -> Landing? {
    await withTaskGroup(of: Landing?.self) { group in
      group.addTask { await self.landing() }
      if stop.token != nil {
        group.addTask {
          await stop.wait(clock: clock)
          return nil
        }
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  private func landing() async -> Landing? {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if !state.isFlying || Task.isCancelled { return true }
          state.joiners[id] = continuation
          return false
        }
        if isOver { continuation.resume(returning: nil) }
      }
    } onCancel: {
      state.withLock { $0.joiners.removeValue(forKey: id) }?.resume(returning: nil)
    }
  }
}

extension Result where Success == SyncResult {
  fileprivate var wasCancelled: Bool {
    if case .success(let result) = self { result.wasCancelled } else { false }
  }
}
