import Foundation
public import SyncModels
public import SyncPorts
import Synchronization

/// Runs background work in a process that always runs, such as a server.
///
/// Requests are kept in memory: a process submits them again when it starts. One kind of work runs
/// at a time; the other waits.
///
/// ```swift
/// let stop = CancellationSource()  // cancelled by SIGTERM
/// let scheduler = try InProcessScheduler(timeZone: "Europe/Berlin", expiration: stop)
/// await scheduler.run { kind, token in … }
/// ```
public final class InProcessScheduler: BackgroundScheduler {
  private let expiration: CancellationSource
  private let spread: Duration?
  private let connectivity: (any ConnectivityMonitor)?
  private let isOnBattery: @Sendable () -> Bool
  private let clock: any Clock<Duration>
  private let random: RandomBits
  private let ended: (@Sendable (BackgroundRequest.Kind, BackgroundOutcome) -> Void)?
  private let elapsed: @Sendable () -> Duration
  private let requests: Mutex<PendingRequests>
  private let submitted = WakeSignal()

  /// The longest sleep before the next look at the wall clock.
  ///
  /// The wall clock may be set meanwhile.
  static let longestSleep = Duration.seconds(15 * 60)

  /// The interval between battery checks, while a request waits for power.
  static let powerInterval = Duration.seconds(60)

  /// Creates a scheduler.
  ///
  /// - Parameters:
  ///   - timeZone: The time zone of ``BackgroundRequest/Begin/next(_:)``, as in `Europe/Berlin`;
  ///     `nil` for the machine's own.
  ///   - expiration: The end of the process's time, such as a SIGTERM. Cancelling it cancels the
  ///     work under way, and no more work begins.
  ///   - spread: The bound of a random delay that is added to each request, so that a fleet does
  ///     not act at once. By default it is a tenth of the requested pause, and at most 300 seconds:
  ///     a refresh after 5 seconds begins within 5.5.
  ///   - connectivity: Reports the network status, for requests that need it.
  ///   - isOnBattery: Returns whether the machine runs on a battery, for requests that need
  ///     external power. It is called every minute while one waits. By default it is always
  ///     `false`, as on a server.
  ///   - clock: Waits, and tells the time.
  ///   - random: Draws the delays; the system's generator by default.
  ///   - ended: Called with the outcome of each work.
  /// - Throws: `invalidConfiguration` for an unknown time zone.
  public init(
    timeZone: String? = nil, expiration: CancellationSource = CancellationSource(),
    spread: Duration? = nil, connectivity: (any ConnectivityMonitor)? = nil,
    isOnBattery: @escaping @Sendable () -> Bool = { false },
    clock: any Clock<Duration> = ContinuousClock(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    ended: (@Sendable (BackgroundRequest.Kind, BackgroundOutcome) -> Void)? = nil
  ) throws(SyncError) {
    let zone = if let timeZone { TimeZone(identifier: timeZone) } else { TimeZone.current }
    guard let zone else {
      throw SyncError(
        .invalidConfiguration, during: "setting the scheduler up",
        "There is no time zone \(timeZone ?? ""); a valid name is Europe/Berlin.")
    }
    requests = Mutex(PendingRequests(civilTime: CivilTime(zone: zone)))
    self.expiration = expiration
    self.spread = spread.map { max($0, .zero) }
    self.connectivity = connectivity
    self.isOnBattery = isOnBattery
    self.clock = clock
    elapsed = clock.stopwatch()
    self.random = RandomBits(random)
    self.ended = ended
  }

  /// Submits a request; it replaces the pending one of its kind.
  ///
  /// The work begins no earlier than the request says, plus a random part of the spread. A time of
  /// day follows the wall clock, also when the clock is set forward or back.
  @discardableResult
  public func submit(_ request: BackgroundRequest) -> Timestamp {
    let (now, delay) = (now, (spread ?? Self.share(of: request)) * random.fraction())
    let earliest = requests.withLock { $0.submit(request, delay: delay, at: now) }
    submitted.signal()
    return earliest
  }

  /// The bound of the random delay of a request, if none is given.
  private static func share(of request: BackgroundRequest) -> Duration {
    switch request.earliest {
    case .after(let pause): min(max(pause, .zero) / 10, .seconds(300))
    case .next: .seconds(300)
    }
  }

  /// When a pending request of a kind begins, if nothing delays it.
  ///
  /// `nil` if none is pending.
  public func begin(of kind: BackgroundRequest.Kind) -> Timestamp? {
    let now = now
    return requests.withLock { $0.wait(for: kind, from: now) }.map { now.timestamp + $0 }
  }

  private var now: PendingRequests.Moment {
    PendingRequests.Moment(timestamp: clock.timestamp, elapsed: elapsed())
  }

  /// Runs the work of each due request, until cancellation or the expiration.
  ///
  /// The calling task's cancellation ends it.
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

  /// Waits for a timeout, a submission, the network or the expiration, whichever comes first.
  private func wait(atMost duration: Duration?, forNetwork: Bool) async {
    let (clock, submitted, expiration) = (clock, submitted, expiration)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await submitted.wait() }
      group.addTask { await expiration.waitUntilCancelled() }
      if let duration {
        // The sleep ends early only if another event came first.
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
