import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Synchronization

/// A clock that breaks one promise.
final class FlawedClock: SyncPorts.Clock {
  enum Flaw: CaseIterable, Sendable {
    case goesBack, wakesEarly, neverWakes, failsForNoReason, waitsForThePast, waitsBackwards
    case refusesThePast, ignoresCancellation, endsQuietly, sleepsThoughCancelled, wakesAll
    case wakesByBucket, standsStill

    var check: ClockCheck {
      switch self {
      case .goesBack: .nowNeverGoesBack
      case .wakesEarly, .neverWakes, .failsForNoReason: .sleepLastsUntilItsDeadline
      case .waitsForThePast, .waitsBackwards, .refusesThePast: .pastDeadlineIsNotWaitedFor
      case .ignoresCancellation, .endsQuietly: .cancellationEndsASleep
      case .sleepsThoughCancelled: .cancelledTaskDoesNotSleep
      case .wakesAll, .wakesByBucket: .sleepsAreIndependent
      case .standsStill: .timestampMovesOn
      }
    }
  }

  private let flaw: Flaw
  private let base = ManualClock()
  private let readings = Atomic(0)

  private let origin: ManualClock.Instant

  init(_ flaw: Flaw) {
    self.flaw = flaw
    origin = base.now
  }

  func advance(by duration: Duration) { base.advance(by: duration) }

  var now: ManualClock.Instant {
    let number = readings.add(1, ordering: .relaxed).newValue
    return flaw == .goesBack && number % 100 == 0 ? base.now.advanced(by: .milliseconds(-5)) : base.now
  }
  var minimumResolution: Duration { base.minimumResolution }
  var timestamp: Timestamp { flaw == .standsStill ? Timestamp(milliseconds: 5) : base.timestamp }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    let now = base.now
    switch flaw {
    case .wakesEarly:
      try await base.sleep(until: now.advanced(by: now.duration(to: deadline) / 2))
    case .neverWakes: try await base.sleep(until: deadline.advanced(by: .seconds(86_400)))
    case .failsForNoReason: throw SyncError(.remoteUnavailable, during: "sleeping")
    case .waitsForThePast: try await base.sleep(until: max(deadline, now.advanced(by: .milliseconds(1))))
    case .waitsBackwards where deadline < now:
      try await base.sleep(until: now.advanced(by: deadline.duration(to: now)))
    case .wakesByBucket where now.duration(to: deadline) < .seconds(1):
      try await base.sleep(until: min(deadline, origin.advanced(by: .milliseconds(10))))
    case .refusesThePast where deadline <= now: throw CancellationError()
    case .endsQuietly: try? await base.sleep(until: deadline)
    case .wakesAll: try await base.sleep(until: min(deadline, now.advanced(by: .milliseconds(1))))
    case .ignoresCancellation: try await sleepInAnotherTask(until: deadline)
    case .sleepsThoughCancelled where Task.isCancelled: try await sleepInAnotherTask(until: deadline)
    default: try await base.sleep(until: deadline)
    }
  }

  /// Sleeps in a task that nothing cancels.
  private func sleepInAnotherTask(until deadline: ManualClock.Instant) async throws {
    try await Task { [base] in try await base.sleep(until: deadline) }.value
  }
}
