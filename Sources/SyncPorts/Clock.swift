public import SyncModels

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A clock that can also stamp: *how long until* is the standard half, *what time do I write on this* is ``timestamp``.
///
/// It refines the standard library's `Clock`, so `any Clock<Duration>` in a file that imports this module means this protocol and still
/// takes `ContinuousClock()` and `SuspendingClock()`. A clock of your own needs one line, `extension MyClock: SyncPorts.Clock {}`;
/// for one that cannot have it, spell the standard protocol `_Concurrency.Clock`.
///
/// `Duration` is not fixed to the standard one: `any Clock<Duration>` says so where it matters, and a
/// protocol that fixes it makes that existential's size wrong at run time (Swift 6.3, unoptimized builds).
public protocol Clock<Duration>: _Concurrency.Clock {
  /// The civil time that is written on things, unless the clock has its own idea: the machine's wall clock.
  var timestamp: Timestamp { get }
}

extension Clock {
  /// The machine's wall clock, to the microsecond.
  public var timestamp: Timestamp { .wallClock }
}

extension Clock where Duration == Swift.Duration {
  /// Starts measuring: the function returned tells how long ago that was.
  package func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }

  /// Sleeps for a duration by this clock, or until the task is cancelled.
  package func pause(for duration: Duration) async throws(CancellationError) {
    do {
      try await sleep(until: now.advanced(by: duration), tolerance: nil)
    } catch {
      // A clock's sleep ends early for one reason alone.
      throw CancellationError()
    }
  }
}

extension ContinuousClock: Clock {}
extension SuspendingClock: Clock {}

extension Timestamp {
  /// The machine's wall clock now, to the microsecond: the only place where the pure modules read it.
  package static var wallClock: Timestamp {
    var now = timespec()
    // CLOCK_REALTIME exists on every platform this builds for; were the call to fail, the epoch would be stamped.
    _ = clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
  }
}
