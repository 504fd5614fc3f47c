import Foundation
public import SyncModels
public import SyncPorts
import Synchronization

/// Runs work in the background of a process that is always there, as a server is.
///
/// Requests are kept in memory: a process submits them again when it starts. One is begun at a time, the other kind waits.
///
/// ```swift
/// let stop = CancellationSource()  // cancelled by SIGTERM
/// let scheduler = try InProcessScheduler(timeZone: "Europe/Berlin", expiration: stop)
/// await scheduler.run { kind, token in … }
/// ```
public final class InProcessScheduler: BackgroundScheduler {
  private let civilTime: CivilTime
  private let expiration: CancellationSource
  private let spread: Duration
  private let connectivity: (any ConnectivityMonitor)?
  private let isOnBattery: @Sendable () -> Bool
  private let clock: any Clock<Duration>
  private let random: @Sendable () -> UInt64
  private let ended: (@Sendable (BackgroundRequest.Kind, BackgroundOutcome) -> Void)?
  private let elapsed: @Sendable () -> Duration
  private let requests = Mutex(PendingRequests())
  private let submitted = WakeUpCall()

  /// How long it sleeps at most before it looks at the wall clock again, which somebody may have set.
  static let longestSleep = Duration.seconds(15 * 60)

  /// How often it asks again whether the machine still runs on a battery, while a request waits for power.
  static let powerInterval = Duration.seconds(60)

  /// Sets a scheduler up.
  ///
  /// - Parameters:
  ///   - timeZone: The name of the zone whose clock on the wall ``BackgroundRequest/Begin/next(_:)`` goes by, as in `Europe/Berlin`;
  ///     `nil` for the machine's own.
  ///   - expiration: The end of the process's time, such as a SIGTERM. Cancelling it cancels the work under way, and nothing more is begun.
  ///   - spread: Each request begins later than it says by a time drawn below this, so that a fleet does not act at once.
  ///   - connectivity: Who knows whether the network is there, for requests that need it.
  ///   - isOnBattery: Whether the machine is known to run on a battery, for requests that need external power. It is asked again
  ///     every minute while one waits. By default it never is, as a server.
  ///   - clock: Waits, and tells the time.
  ///   - random: Draws the delays; the system's random numbers by default.
  ///   - ended: Is told how each work ended.
  /// - Throws: `invalidConfiguration` for a time zone that nobody knows.
  public init(
    timeZone: String? = nil, expiration: CancellationSource = CancellationSource(),
    spread: Duration = .seconds(300), connectivity: (any ConnectivityMonitor)? = nil,
    isOnBattery: @escaping @Sendable () -> Bool = { false },
    clock: any Clock<Duration> = ContinuousClock(),
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    ended: (@Sendable (BackgroundRequest.Kind, BackgroundOutcome) -> Void)? = nil
  ) throws(SyncError) {
    let zone = if let timeZone { TimeZone(identifier: timeZone) } else { TimeZone.current }
    guard let zone else {
      throw SyncError(
        .invalidConfiguration, during: "setting the scheduler up",
        "There is no time zone \(timeZone ?? ""); names are like Europe/Berlin.")
    }
    civilTime = CivilTime(zone: zone)
    self.expiration = expiration
    self.spread = max(spread, .zero)
    self.connectivity = connectivity
    self.isOnBattery = isOnBattery
    self.clock = clock
    elapsed = clock.stopwatch()
    self.random = random
    self.ended = ended
  }

  /// Asks to be run, no earlier than the request says, and at most the spread later; it replaces the pending one of its kind.
  @discardableResult
  public func submit(_ request: BackgroundRequest) -> Timestamp {
    let now = now
    let earliest =
      switch request.earliest {
      case .after(let duration): now.timestamp + duration
      case .next(let time): civilTime.next(time, after: now.timestamp)
      }
    // 53 random bits are a fraction below one.
    let begin = earliest + spread * (Double(random() >> 11) * 0x1p-53)
    let elapsed = now.elapsed + begin.duration(since: now.timestamp)
    requests.withLock { $0.submit(request, begin: .init(timestamp: begin, elapsed: elapsed)) }
    submitted.ring()
    return earliest
  }

  /// When a pending request of a kind begins if nothing is in its way; `nil` when there is none.
  public func begin(of kind: BackgroundRequest.Kind) -> Timestamp? {
    let now = now
    return requests.withLock { $0.pending[kind] }.map { now.timestamp + $0.wait(from: now) }
  }

  private var now: PendingRequests.Moment {
    PendingRequests.Moment(timestamp: clock.timestamp, elapsed: elapsed())
  }

  /// Hands each request that comes due to the work, until the calling task is cancelled or the time is up.
  public func run(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    while !Task.isCancelled, !expiration.isCancelled {
      let isOffline = connectivity?.connectivity == .offline
      let isOnBattery = isOnBattery()
      switch requests.withLock({ $0.step(at: now, isOffline: isOffline, isOnBattery: isOnBattery) }) {
      case .begin(let kind):
        let outcome = await work(kind, expiration)
        ended?(kind, outcome)
      case .wait(let duration, let forNetwork, let forPower):
        let limit = forPower ? min(duration ?? Self.powerInterval, Self.powerInterval) : duration
        await wait(atMost: limit, forNetwork: forNetwork)
      }
    }
  }

  /// Waits until a time has passed, something was submitted, the network is back or the time is up, whichever comes first.
  private func wait(atMost duration: Duration?, forNetwork: Bool) async {
    let (clock, submitted, expiration) = (clock, submitted, expiration)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await submitted.wait() }
      group.addTask { await expiration.waitUntilCancelled() }
      if let duration {
        // Woken early only because something else came first.
        group.addTask { try? await clock.sleep(for: min(duration, Self.longestSleep)) }
      }
      if forNetwork, let statuses = connectivity?.statuses() {
        group.addTask { for await status in statuses where status.connectivity != .offline { return } }
      }
      await group.next()
      group.cancelAll()
    }
  }
}
