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

/// A clock that also gives timestamps.
///
/// The standard half answers *how long until*. ``timestamp`` answers *what time do I write on
/// this*.
///
/// It refines the standard library's `Clock`, so `any Clock<Duration>` in a file that imports this
/// module means this protocol and still takes `ContinuousClock()` and `SuspendingClock()`. A clock
/// of your own needs one line, `extension MyClock: SyncPorts.Clock {}`. If it cannot have that
/// line, spell the standard protocol `_Concurrency.Clock`.
///
/// `Duration` is not fixed to the standard one: `any Clock<Duration>` says so where it matters, and
/// a protocol that fixes it makes that existential's size wrong at run time (Swift 6.3, unoptimized
/// builds).
public protocol Clock<Duration>: _Concurrency.Clock {
  /// The civil time for timestamps; by default the machine's wall clock.
  var timestamp: Timestamp { get }
}

extension Clock {
  /// The machine's wall clock, to the microsecond.
  public var timestamp: Timestamp { .wallClock }
}

extension Clock where Duration == Swift.Duration {
  /// Starts a measurement; the returned function gives the elapsed time.
  package func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: now) }
  }

  /// Sleeps for a duration by this clock, or until the task is cancelled.
  package func pause(for duration: Duration) async throws(CancellationError) {
    do {
      try await sleep(until: now.advanced(by: duration), tolerance: nil)
    } catch {
      // A clock's sleep ends early only on cancellation.
      throw CancellationError()
    }
  }
}

extension ContinuousClock: Clock {}
extension SuspendingClock: Clock {}

extension Timestamp {
  /// The machine's wall clock now, to the microsecond.
  ///
  /// The pure modules read the wall clock only here.
  package static var wallClock: Timestamp {
    var now = timespec()
    // CLOCK_REALTIME exists on every platform that this builds for. If the call fails, the
    // timestamp is the epoch.
    _ = clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
  }
}
