import SyncModels
import SyncPorts

/// Lets one caller sync at a time, by the decisions of ``FlightMachine``.
///
/// The other callers are refused, share its result, or sync after it.
final class SingleFlight: Sendable {
  private typealias Landing = Result<SyncResult, SyncError>
  private enum Turn {
    case lead(first: [RecordType])
    case share(Landing)
  }
  private struct State {
    var machine = FlightMachine()
    /// Turns of callers that do not wait yet.
    var turns: [Int: Turn] = [:]
  }
  private let queue = WaitQueue<State, Turn>(State())

  /// Runs the body, or waits for a sync that covers the caller's request.
  ///
  /// - Parameters:
  ///   - raise: Puts the caller's types first in the running sync that it shares.
  ///   - body: Syncs, with some types first.
  /// - Throws: What the body throws; `syncAlreadyInProgress` for a second caller that asks to be
  ///   refused.
  func run(
    _ scope: SyncScope, ifBusy: SyncRequest.Busy, stop: StopSignal, clock: any Clock<Duration>,
    raise: ([RecordType]) -> Void,
    _ body: (_ first: [RecordType]) async throws(SyncError) -> SyncResult
  ) async throws(SyncError) -> SyncResult {
    switch queue.update({ state, _ in state.machine.arrive(scope, ifBusy: ifBusy) }) {
    case .refused:
      throw SyncError(
        .syncAlreadyInProgress, during: "starting a sync", "A sync is running in this process.")
    case .lead:
      return try await lead(first: scope.first, body)
    case .wait(let id, let sharesThisOne):
      if sharesThisOne, !scope.first.isEmpty { raise(scope.first) }
      switch await stop.cancelling(clock: clock, { await self.turn(of: id) }) {
      case nil:
        return SyncResult(wasCancelled: true)
      case .share(let landing):
        return try landing.get()
      case .lead(let first):
        guard !stop.isRaised else {
          land(.success(SyncResult(wasCancelled: true)))
          return SyncResult(wasCancelled: true)
        }
        return try await lead(first: first, body)
      }
    }
  }

  private func lead(
    first: [RecordType], _ body: ([RecordType]) async throws(SyncError) -> SyncResult
  ) async throws(SyncError) -> SyncResult {
    let landing: Landing
    do throws(SyncError) {
      landing = .success(try await body(first))
    } catch {
      landing = .failure(error)
    }
    land(landing)
    return try landing.get()
  }

  private func land(_ landing: Landing) {
    queue.update { state, callers in
      for (id, step) in state.machine.landed(wasStopped: landing.wasCancelled) {
        let turn: Turn =
          switch step {
          case .lead(let first): .lead(first: first)
          case .share: .share(landing)
          }
        if !callers.deliver(turn, to: id) { state.turns[id] = turn }
      }
    }
  }

  /// Waits for a caller's turn; `nil` if its task was cancelled before.
  ///
  /// A turn that was given is always taken.
  private func turn(of id: Int) async -> Turn? {
    await queue.wait(as: id) { state in
      state.turns.removeValue(forKey: id)
    } leave: { state in
      state.machine.leave(id)
    }
  }
}

extension Result where Success == SyncResult {
  fileprivate var wasCancelled: Bool {
    if case .success(let result) = self { result.wasCancelled } else { false }
  }
}
