import SyncModels
import SyncPorts

/// Decides which pending request to begin, and when; it waits for none.
struct PendingRequests {
  /// A time by two clocks: the wall clock, which may be set, and a monotonic one.
  struct Moment: Equatable {
    var timestamp: Timestamp
    var elapsed: Duration
  }

  struct Pending: Equatable {
    var request: BackgroundRequest
    /// When the work begins, the random delay included, as last computed.
    var begin: Moment
    var delay: Duration

    /// The remaining wait; zero or less when the request is due.
    ///
    /// A time of day goes by the wall clock. A delay goes by the monotonic clock.
    func wait(from now: Moment) -> Duration {
      switch request.earliest {
      case .after: begin.elapsed - now.elapsed
      case .next: begin.timestamp.duration(since: now.timestamp)
      }
    }
  }

  private let civilTime: CivilTime
  private var pending: [BackgroundRequest.Kind: Pending] = [:]

  /// The most time until a time of day: the night when clocks are set back is the longest.
  private static let longestDay = Duration.seconds(25 * 3600)

  init(civilTime: CivilTime) { self.civilTime = civilTime }

  /// Adds a request, which replaces the pending one of its kind.
  ///
  /// - Parameter delay: The random delay.
  /// - Returns: The earliest begin that the request names.
  mutating func submit(_ request: BackgroundRequest, delay: Duration, at now: Moment) -> Timestamp {
    let earliest = earliest(of: request, at: now)
    let begin = earliest + delay
    pending[request.kind] = Pending(
      request: request,
      begin: Moment(timestamp: begin, elapsed: now.elapsed + begin.duration(since: now.timestamp)),
      delay: delay)
    return earliest
  }

  /// The remaining wait for the request of a kind; `nil` if none is pending.
  mutating func wait(for kind: BackgroundRequest.Kind, from now: Moment) -> Duration? {
    correct(at: now)
    return pending[kind]?.wait(from: now)
  }

  private func earliest(of request: BackgroundRequest, at now: Moment) -> Timestamp {
    switch request.earliest {
    case .after(let duration): now.timestamp + duration
    case .next(let time): civilTime.next(time, after: now.timestamp)
    }
  }

  /// Computes a time of day anew if it is too far away: the wall clock was set back.
  ///
  /// After a correction of less than an hour, the work is not done twice in a night.
  private mutating func correct(at now: Moment) {
    for (kind, entry) in pending where entry.wait(from: now) > Self.longestDay + entry.delay {
      guard case .next = entry.request.earliest else { continue }
      let begin = earliest(of: entry.request, at: now) + entry.delay
      pending[kind]?.begin.timestamp = begin
    }
  }

  /// The next step of the scheduler.
  enum Step: Equatable {
    case begin(BackgroundRequest.Kind)
    /// Waits at most this long, or for network or power if a request needs it.
    case wait(atMost: Duration?, forNetwork: Bool, forPower: Bool = false)
  }

  /// Removes and returns the request to begin, or returns what to wait for.
  ///
  /// Of several the one that was due first begins.
  mutating func step(at now: Moment, isOffline: Bool, isOnBattery: Bool = false) -> Step {
    correct(at: now)
    let waits = pending.mapValues { $0.wait(from: now) }
    let due = pending.values.filter { waits[$0.request.kind, default: .zero] <= .zero }
    let powered = due.map(\.request).filter { !isOnBattery || !$0.needsExternalPower }
    let ready = powered.filter { !isOffline || !$0.needsNetwork }.map(\.kind)
    let first = ready.min {
      (waits[$0, default: .zero], $0.rawValue) < (waits[$1, default: .zero], $1.rawValue)
    }
    if let first {
      pending[first] = nil
      return .begin(first)
    }
    return .wait(
      atMost: waits.values.filter { $0 > .zero }.min(), forNetwork: !powered.isEmpty,
      forPower: powered.count < due.count)
  }
}
