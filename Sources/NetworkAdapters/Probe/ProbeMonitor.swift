public import SyncPorts

/// Reports connectivity by connecting to a host and port at intervals.
///
/// For servers, whose own link is always up. The status is unknown, and nothing is probed, before
/// ``run()`` is called:
///
/// ```swift
/// let monitor = ProbeMonitor(host: "sync.example.com", port: 443)
/// async let probing: Void = monitor.run()
/// ```
///
/// The first probe runs at once, the others after a random interval, so that a fleet does not probe
/// in step. An answer in time means online, anything else offline. The kind of interface is
/// unknown.
public final class ProbeMonitor: ConnectivityMonitor {
  private let feed = NetworkStatusFeed()
  private let interval: Duration
  private let jitter: Double
  private let timeout: Duration
  private let clock: any Clock<Duration>
  private let random: RandomBits
  private let probe: @Sendable () async -> Bool

  /// Creates a monitor that opens a TCP connection and closes it at once.
  ///
  /// - Parameters:
  ///   - host: The name or address of the host.
  ///   - port: The port that must answer.
  ///   - interval: The most time between the end of a probe and the next one.
  ///   - jitter: The random share of the interval, from 0 to 1.
  ///   - timeout: The longest time for an answer, name lookup included.
  ///   - clock: Waits.
  ///   - random: Draws the intervals; the system's generator by default.
  public convenience init(
    host: String, port: UInt16, every interval: Duration = .seconds(30), jitter: Double = 0.2,
    timeout: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    let probe = TCPProbe(host: host, port: port, clock: clock)
    self.init(every: interval, jitter: jitter, timeout: timeout, clock: clock, random: random) {
      await probe.answers()
    }
  }

  /// Creates a monitor with a probe of your own.
  ///
  /// - Parameters:
  ///   - interval: The most time between the end of a probe and the next one.
  ///   - jitter: The random share of the interval, from 0 to 1.
  ///   - timeout: The longest time for an answer.
  ///   - clock: Waits.
  ///   - random: Draws the intervals; the system's generator by default.
  ///   - probe: Returns whether there was an answer. When its task is cancelled because the time is
  ///     up, it must return soon.
  public init(
    every interval: Duration = .seconds(30), jitter: Double = 0.2, timeout: Duration = .seconds(5),
    clock: any Clock<Duration> = ContinuousClock(),
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    probe: @escaping @Sendable () async -> Bool
  ) {
    self.interval = interval
    self.jitter = min(max(jitter, 0), 1)
    self.timeout = timeout
    self.clock = clock
    self.random = RandomBits(random)
    self.probe = probe
  }

  /// The result of the last probe; unknown before the first one has ended.
  public var status: NetworkStatus { feed.status }

  /// The current status, and then each change.
  public func statuses() -> AsyncStream<NetworkStatus> { feed.statuses() }

  /// Probes until the calling task is cancelled. From then on the status is unknown.
  public func run() async {
    defer { feed.report(NetworkStatus(.unknown)) }
    while !Task.isCancelled {
      let answers = await answersInTime()
      if Task.isCancelled { return }
      feed.report(NetworkStatus(answers ? .online : .offline))
      do { try await clock.sleep(for: pause) } catch { return }
    }
  }

  /// The time until the next probe.
  var pause: Duration {
    interval * (1 - jitter * random.fraction())
  }

  private func answersInTime() async -> Bool {
    let (probe, clock, timeout) = (probe, clock, timeout)
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await probe() }
      group.addTask {
        // The sleep ends early only if the probe has finished.
        try? await clock.sleep(for: timeout)
        return false
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
  }
}
