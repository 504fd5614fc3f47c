public import SyncModels
public import SyncPorts

/// How the checks get at a background scheduler: one harness holds one scheduler without requests, and serves one check.
public struct SchedulerHarness: Sendable {
  /// The scheduler to check.
  public var scheduler: any BackgroundScheduler
  /// The time by the scheduler's own clock.
  public var now: @Sendable () -> Timestamp
  /// Lets so much time pass by the scheduler's own clock. It may return before the scheduler has noticed.
  public var pass: @Sendable (Duration) -> Void
  /// Tells the scheduler that the platform's time is up; `nil` where that cannot be done.
  public var expire: (@Sendable () -> Void)?
  /// Has the network that the scheduler goes by come (`true`) or go; `nil` where that cannot be done.
  public var setOnline: (@Sendable (Bool) -> Void)?
  /// Gives the machine external power (`true`) or takes it away; `nil` where that cannot be done.
  public var setPowered: (@Sendable (Bool) -> Void)?

  /// Describes how to get at a scheduler; what cannot be done stays `nil`, and the checks that need it are skipped.
  public init(
    scheduler: any BackgroundScheduler, now: @escaping @Sendable () -> Timestamp,
    pass: @escaping @Sendable (Duration) -> Void, expire: (@Sendable () -> Void)? = nil,
    setOnline: (@Sendable (Bool) -> Void)? = nil, setPowered: (@Sendable (Bool) -> Void)? = nil
  ) {
    self.scheduler = scheduler
    self.now = now
    self.pass = pass
    self.expire = expire
    self.setOnline = setOnline
    self.setPowered = setPowered
  }
}
