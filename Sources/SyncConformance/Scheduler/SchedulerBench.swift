import SyncModels
import SyncPorts
import Synchronization

/// A scheduler under check, and the work that it began.
final class SchedulerBench: Sendable {
  typealias Kind = BackgroundRequest.Kind
  typealias Work = @Sendable (Kind, any CancellationToken) async throws -> Void

  /// Work that has begun.
  struct Begun: Sendable {
    var kind: Kind
    var at: Timestamp
    var isOver = false
  }

  private struct State {
    var begun: [Begun] = []
    /// The runs that have been started and have not returned.
    var runs = 0
    var failure: (any Error)?
  }

  let harness: SchedulerHarness
  private let state = Mutex(State())

  init(_ harness: SchedulerHarness) {
    self.harness = harness
  }

  var begun: [Begun] { state.withLock { $0.begun } }
  var isRunning: Bool { state.withLock { $0.runs > 0 } }
  private var failure: (any Error)? { state.withLock { $0.failure } }

  @discardableResult
  func submit(
    _ kind: Kind, after delay: Duration, needsNetwork: Bool = false, needsExternalPower: Bool = false
  ) throws -> Timestamp {
    try harness.scheduler.submit(
      BackgroundRequest(
        kind, earliest: .after(delay), needsNetwork: needsNetwork, needsExternalPower: needsExternalPower))
  }

  /// Runs the scheduler during a body, then cancels it and waits for its end.
  ///
  /// The task is no child of the check's: a run that ignores its cancellation would keep the check
  /// from telling so.
  func running(work: @escaping Work = { _, _ in }, _ body: @Sendable () async throws -> Void) async throws {
    state.withLock { $0.runs += 1 }
    let run = Task(executorPreference: harness.executor) {
      await self.harness.scheduler.run { kind, token in await self.perform(work, kind, token) }
      self.state.withLock { $0.runs -= 1 }
    }
    do {
      try await body()
    } catch {
      await end(run)
      throw error
    }
    try expect(await end(run), "A run that is cancelled returns once the work under way has ended.")
    if let failure { throw failure }
  }

  /// Cancels a run; `false` if it does not return.
  @discardableResult
  private func end(_ run: Task<Void, Never>) async -> Bool {
    run.cancel()
    return await Patience.lasts(until: { !isRunning })
  }

  private func perform(
    _ work: Work, _ kind: Kind, _ token: any CancellationToken
  ) async -> BackgroundOutcome {
    let index = state.withLock { state in
      state.begun.append(Begun(kind: kind, at: harness.now()))
      return state.begun.count - 1
    }
    defer { state.withLock { $0.begun[index].isOver = true } }
    do {
      try await work(kind, token)
      return .succeeded
    } catch {
      state.withLock { $0.failure = error }
      return .failed
    }
  }

  /// Gives other tasks the time to begin and to wait.
  func letOthersRun() async {
    for _ in 0..<100 { await Task.yield() }
  }

  /// Advances the time until a condition holds, or the work has failed.
  func pass(until isSo: @Sendable () -> Bool, _ sentence: String) async throws {
    let harness = harness
    let hasCome = await Patience.lasts(until: { isSo() || failure != nil }) { harness.pass(.seconds(10)) }
    if let failure { throw failure }
    try expect(hasCome, "\(sentence) It did not happen.")
  }
}
