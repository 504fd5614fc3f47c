import SyncPorts
import Synchronization

/// A clock under check, and the tasks that sleep by it.
final class ClockBench<C: Clock<Duration>>: Sendable {
  let clock: C
  let harness: ClockHarness
  private let tasks = Mutex<[Task<Void, Never>]>([])

  init(clock: C, harness: ClockHarness) {
    self.clock = clock
    self.harness = harness
  }

  /// A task that sleeps until a deadline.
  final class Sleep: Sendable {
    /// The end of a sleep.
    struct End: Sendable {
      var now: C.Instant
      var error: (any Error)?
    }

    let deadline: C.Instant
    private let state = Mutex<(hasBegun: Bool, end: End?)>((false, nil))

    init(until deadline: C.Instant) { self.deadline = deadline }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    var end: End? { state.withLock { $0.end } }

    fileprivate func run(by clock: C) async {
      state.withLock { $0.hasBegun = true }
      var failure: (any Error)?
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch { failure = error }
      let end = End(now: clock.now, error: failure)
      state.withLock { $0.end = end }
    }
  }

  /// Starts a task that sleeps, and cancels it before its sleep if asked to.
  func sleep(until deadline: C.Instant, cancelled: Bool = false) -> (sleep: Sleep, task: Task<Void, Never>) {
    let sleep = Sleep(until: deadline)
    let task = Task(executorPreference: harness.executor) { [clock] in
      while cancelled, !Task.isCancelled { await Task.yield() }
      await sleep.run(by: clock)
    }
    if cancelled { task.cancel() }
    tasks.withLock { $0.append(task) }
    return (sleep, task)
  }

  /// Cancels every task that still sleeps.
  func cancelSleeps() {
    for task in tasks.withLock({ $0 }) { task.cancel() }
  }

  /// Lets time pass until a condition holds.
  func pass(until isSo: () -> Bool, _ sentence: String) async throws {
    let hasCome = await Patience.lasts(until: isSo) { harness.advance?(.milliseconds(1)) }
    try expect(hasCome, sentence)
  }

  /// Lets a moment pass, for a sleep that does not end.
  func passAMoment() async {
    for _ in 0..<100 {
      harness.advance?(.milliseconds(1))
      await Task.yield()
    }
  }
}
