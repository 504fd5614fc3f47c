import SyncModels
import SyncPorts
import Synchronization

/// The passing of a clock's time.
struct ClockBench: Sendable {
  let advance: (@Sendable (Duration) -> Void)?

  /// Lets time pass until something has happened.
  func pass(until isSo: @Sendable () -> Bool, _ sentence: String) async throws {
    let hasCome = await Patience.lasts(until: isSo) { advance?(.milliseconds(1)) }
    try expect(hasCome, sentence)
  }
}

/// The readings of a clock, and the ends of its sleeps.
struct ClockChecks<C: Clock<Duration>>: Sendable {
  let clock: C
  let bench: ClockBench

  /// A sleep that has ended.
  private struct End: Sendable {
    var now: C.Instant
    var error: (any Error)?
  }

  private func begin(until deadline: C.Instant) -> (task: Task<Void, Never>, end: @Sendable () -> End?) {
    let result = Result()
    let task = Task { [clock] in
      var failure: (any Error)?
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch { failure = error }
      let end = End(now: clock.now, error: failure)
      result.end.withLock { $0 = end }
    }
    return (task, { result.end.withLock { $0 } })
  }

  private final class Result: Sendable {
    let end = Mutex<End?>(nil)
  }

  func nowNeverGoesBack() async throws {
    var last = clock.now
    for _ in 0..<1000 {
      bench.advance?(.microseconds(1))
      let now = clock.now
      try expect(now >= last, "The time now is never before an earlier one.")
      last = now
    }
  }

  func sleepLastsUntilItsDeadline() async throws {
    for length in [Duration.milliseconds(1), .milliseconds(20), .milliseconds(50)] {
      let deadline = clock.now.advanced(by: length)
      let sleep = begin(until: deadline)
      try await bench.pass(until: { sleep.end() != nil }, "A sleep ends once its deadline has come.")
      let end = sleep.end()
      try expect(end?.error == nil, "A sleep fails only when its task is cancelled.")
      try expect(end.map { $0.now >= deadline } == true, "A sleep ends no earlier than its deadline.")
    }
  }

  func pastDeadlineIsNotWaitedFor() async throws {
    let start = clock.now
    for deadline in [start, start.advanced(by: .seconds(-60))] {
      let sleep = begin(until: deadline)
      let hasEnded = await Patience.lasts(until: { sleep.end() != nil })
      sleep.task.cancel()
      try expect(hasEnded, "A sleep until a time that has passed ends at once.")
      try expect(sleep.end()?.error == nil, "A sleep fails only when its task is cancelled.")
    }
  }

  func cancellationEndsASleep() async throws {
    let sleep = begin(until: clock.now.advanced(by: .seconds(86_400)))
    for _ in 0..<100 { await Task.yield() }
    try expect(sleep.end() == nil, "A sleep ends no earlier than its deadline.")
    sleep.task.cancel()
    let hasEnded = await Patience.lasts(until: { sleep.end() != nil })
    try expect(hasEnded, "A sleep ends when its task is cancelled.")
    try expect(sleep.end()?.error is CancellationError, "A cancelled sleep throws a CancellationError.")
  }

  func cancelledTaskDoesNotSleep() async throws {
    let failure = Mutex<(any Error)?>(nil)
    let hasEnded = Signal()
    let deadline = clock.now.advanced(by: .seconds(86_400))
    let task = Task { [clock] in
      while !Task.isCancelled { await Task.yield() }
      do { try await clock.sleep(until: deadline, tolerance: nil) } catch {
        failure.withLock { $0 = error }
      }
      hasEnded.give()
    }
    task.cancel()
    let isOver = await Patience.lasts(until: { hasEnded.wasGiven })
    try expect(isOver, "A cancelled task does not sleep.")
    try expect(
      failure.withLock { $0 } is CancellationError, "A sleep in a cancelled task throws a CancellationError.")
  }

  func sleepsAreIndependent() async throws {
    let start = clock.now
    let long = begin(until: start.advanced(by: .seconds(86_400)))
    let sleeps = [30, 10, 20].map { begin(until: start.advanced(by: .milliseconds($0))) }
    try await bench.pass(
      until: { sleeps.allSatisfy { $0.end() != nil } }, "Each of several sleeps ends at its own deadline.")
    for _ in 0..<100 {
      bench.advance?(.milliseconds(1))
      await Task.yield()
    }
    try expect(long.end() == nil, "The end of one sleep ends no other.")
    long.task.cancel()
    await long.task.value
  }

  func timestampMovesOn() async throws {
    let (start, before) = (clock.now, clock.timestamp)
    let sleep = begin(until: start.advanced(by: .milliseconds(20)))
    try await bench.pass(until: { sleep.end() != nil }, "A sleep ends once its deadline has come.")
    let after = clock.timestamp
    try expect(after > before, "The timestamp moves on with the clock. It was \(before), then \(after).")
  }
}
