import SyncModels
import SyncPorts
import Synchronization

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
    var seats: [Int: CheckedContinuation<Turn?, Never>] = [:]
    /// Turns of callers that do not wait yet.
    var turns: [Int: Turn] = [:]
  }
  private let state = Mutex(State())

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
    switch state.withLock({ $0.machine.arrive(scope, ifBusy: ifBusy) }) {
    case .refused:
      throw SyncError(
        .syncAlreadyInProgress, during: "starting a sync", "A sync is running in this process.")
    case .lead:
      return try await lead(first: scope.first, body)
    case .wait(let id, let sharesThisOne):
      if sharesThisOne, !scope.first.isEmpty { raise(scope.first) }
      switch await stop.cancelling(clock: clock, { await self.seat(id) }) {
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
    let ready = state.withLock { state in
      var ready: [(CheckedContinuation<Turn?, Never>, Turn)] = []
      for (id, step) in state.machine.landed(wasStopped: landing.wasCancelled) {
        let turn: Turn =
          switch step {
          case .lead(let first): .lead(first: first)
          case .share: .share(landing)
          }
        if let seat = state.seats.removeValue(forKey: id) {
          ready.append((seat, turn))
        } else {
          state.turns[id] = turn
        }
      }
      return ready
    }
    for (seat, turn) in ready { seat.resume(returning: turn) }
  }

  /// Waits for a caller's turn; `nil` if its task was cancelled before.
  ///
  /// A turn that was given is always taken.
  private func seat(_ id: Int) async -> Turn? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> Turn?? in
          if let turn = state.turns.removeValue(forKey: id) { return turn }
          if Task.isCancelled {
            state.machine.leave(id)
            return .some(nil)
          }
          state.seats[id] = continuation
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      let seat = state.withLock { state in
        let seat = state.seats.removeValue(forKey: id)
        if seat != nil { state.machine.leave(id) }
        return seat
      }
      seat?.resume(returning: nil)
    }
  }
}

extension Result where Success == SyncResult {
  fileprivate var wasCancelled: Bool {
    if case .success(let result) = self { result.wasCancelled } else { false }
  }
}
