public import SyncModels

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(WASILibc)
  import WASILibc
#elseif canImport(ucrt)
  import ucrt
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
/// For implementers: the time now never goes back. A sleep ends once its deadline has come and no
/// earlier, and at once if it has passed already. It fails only with `CancellationError`, at once
/// when its task is cancelled.
///
/// `Duration` is not fixed to the standard one: `any Clock<Duration>` says so where it matters, and
/// a protocol that fixes it makes that existential's size wrong at run time (Swift 6.3, unoptimized
/// builds).
public protocol Clock<Duration>: _Concurrency.Clock {
  /// The civil time for timestamps; by default the machine's wall clock.
  ///
  /// It moves on while the clock does. Only a person or the system sets it back.
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
  ///
  /// - Parameter wait: What the sleep is for.
  package func pause(
    for duration: Duration, as wait: WaitName? = nil
  ) async throws(CancellationError) {
    do {
      try await WaitName.$current.withValue(wait) {
        try await sleep(until: now.advanced(by: duration), tolerance: nil)
      }
    } catch {
      // A clock's sleep ends early only on cancellation.
      throw CancellationError()
    }
  }
}

extension Clock where Duration == Swift.Duration {
  /// Sleeps until a civil time, or until the task is cancelled.
  ///
  /// It may end early, and never late: a clock that is advanced between the two readings here would
  /// otherwise make the caller wait from the later of them.
  package func pause(until time: Timestamp) async throws(CancellationError) {
    let start = now
    let end = start.advanced(by: time.duration(since: timestamp))
    do { try await sleep(until: end, tolerance: nil) } catch { throw CancellationError() }
  }
}

/// What the engine sleeps for, by which a clock for tests tells its sleeps apart.
public struct WaitName: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let rawValue: String

  /// Creates a name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The name itself.
  public var description: String { rawValue }

  /// The pause before a failed request is made again.
  public static let retry = WaitName(rawValue: "retry")
  /// The time until the lease has to be renewed.
  public static let lease = WaitName(rawValue: "lease")
  /// The time until another holder of the lease is looked for again.
  public static let busy = WaitName(rawValue: "busy")
  /// The time until a token's cancellation is looked for again.
  public static let cancellation = WaitName(rawValue: "cancellation")
  /// The time until an observed query looks for commits of others.
  public static let observation = WaitName(rawValue: "observation")
  /// The time until the coordinator has something to do.
  public static let trigger = WaitName(rawValue: "trigger")

  /// What the current task is about to sleep for; `nil` if it does not say.
  @TaskLocal public static var current: WaitName?
}

extension ContinuousClock: Clock {}
extension SuspendingClock: Clock {}

extension Timestamp {
  /// The machine's wall clock now, to the microsecond.
  ///
  /// The pure modules read the wall clock only here.
  package static var wallClock: Timestamp {
    var now = timespec()
    // Each of these clocks exists wherever this builds for it. If the call fails, the timestamp is
    // the epoch.
    #if canImport(WASILibc) || canImport(ucrt)
      _ = timespec_get(&now, TIME_UTC)
    #else
      _ = clock_gettime(CLOCK_REALTIME, &now)
    #endif
    return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
  }
}
