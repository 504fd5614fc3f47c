import SyncModels
import SyncPorts

/// The readings of a clock, and the ends of its sleeps.
enum ClockChecks {
  /// Longer than any check, also by a clock that runs a million times faster.
  private static let year = Duration.seconds(365 * 86_400)

  static func nowNeverGoesBack<C>(_ bench: ClockBench<C>) throws {
    var last = bench.clock.now
    for _ in 0..<1000 {
      bench.harness.advance?(.microseconds(1))
      let now = bench.clock.now
      try expect(now >= last, "The time now is never before an earlier one.")
      last = now
    }
  }

  static func sleepLastsUntilItsDeadline<C>(_ bench: ClockBench<C>) async throws {
    for length in [Duration.milliseconds(1), .milliseconds(20), .milliseconds(50)] {
      let sleep = bench.sleep(until: bench.clock.now.advanced(by: length)).sleep
      try await bench.pass(until: { sleep.end != nil }, "A sleep ends once its deadline has come.")
      try expectEnd(of: sleep)
    }
  }

  /// Checks that a sleep that has ended did so by its deadline.
  private static func expectEnd<C>(of sleep: ClockBench<C>.Sleep) throws {
    try expect(sleep.end?.error == nil, "A sleep fails only when its task is cancelled.")
    try expect(
      sleep.end.map { $0.now >= sleep.deadline } != false, "A sleep ends no earlier than its deadline.")
  }

  static func pastDeadlineIsNotWaitedFor<C>(_ bench: ClockBench<C>) async throws {
    let start = bench.clock.now
    for deadline in [start, start.advanced(by: .zero - year)] {
      let sleep = bench.sleep(until: deadline).sleep
      let hasEnded = await Patience.lasts(until: { sleep.end != nil })
      try expect(hasEnded, "A sleep until a time that has passed ends at once.")
      try expectEnd(of: sleep)
    }
  }

  static func cancellationEndsASleep<C>(_ bench: ClockBench<C>) async throws {
    let (sleep, task) = bench.sleep(until: bench.clock.now.advanced(by: year))
    try await bench.pass(until: { sleep.hasBegun }, "A task that sleeps is begun.")
    await bench.passAMoment()
    if sleep.end != nil {
      try expectEnd(of: sleep)
      throw Inapplicable(reason: "The clock passes a year before a sleep can be cancelled.")
    }
    task.cancel()
    let hasEnded = await Patience.lasts(until: { sleep.end != nil })
    try expect(hasEnded, "A sleep ends when its task is cancelled.")
    try expect(sleep.end?.error is CancellationError, "A cancelled sleep throws a CancellationError.")
  }

  static func cancelledTaskDoesNotSleep<C>(_ bench: ClockBench<C>) async throws {
    let sleep = bench.sleep(until: bench.clock.now.advanced(by: year), cancelled: true).sleep
    let hasEnded = await Patience.lasts(until: { sleep.end != nil })
    try expect(hasEnded, "A cancelled task does not sleep.")
    try expect(
      sleep.end?.error is CancellationError, "A sleep in a cancelled task throws a CancellationError.")
  }

  static func sleepsAreIndependent<C>(_ bench: ClockBench<C>) async throws {
    let start = bench.clock.now
    let long = bench.sleep(until: start.advanced(by: year)).sleep
    let sleeps = [30, 10, 20].map { bench.sleep(until: start.advanced(by: .milliseconds($0))).sleep }
    try await bench.pass(
      until: { long.hasBegun && sleeps.allSatisfy { $0.end != nil } },
      "Each of several sleeps ends once its own deadline has come.")
    await bench.passAMoment()
    for sleep in sleeps + [long] { try expectEnd(of: sleep) }
  }

  static func timestampMovesOn<C>(_ bench: ClockBench<C>) async throws {
    let before = bench.clock.timestamp
    try await bench.pass(
      until: { bench.clock.timestamp > before },
      "The timestamp moves on with the clock. It stayed at \(before).")
  }
}
