/// How often a ``SyncCoordinator`` syncs at most, and how long it waits when that fails.
public struct SyncPacing: Hashable, Sendable {
  /// At most so many syncs, whatever asks for them, are started within ``window``.
  public var runs: Int
  /// See ``runs``.
  public var window: Duration
  /// How long the first push signal waits for others to come.
  public var gathering: Duration
  /// The longest wait after the first failure; doubled for each further one.
  public var failureBase: Duration
  /// The longest wait after failures.
  public var failureCap: Duration
  /// The longest wait that a remote may ask for.
  public var longestPause: Duration

  /// Describes a pace.
  public init(
    runs: Int = 6, window: Duration = .seconds(60), gathering: Duration = .seconds(1),
    failureBase: Duration = .seconds(15), failureCap: Duration = .seconds(3600),
    longestPause: Duration = .seconds(24 * 3600)
  ) {
    self.runs = runs
    self.window = window
    self.gathering = gathering
    self.failureBase = failureBase
    self.failureCap = failureCap
    self.longestPause = longestPause
  }

  /// How long to wait after failures one after another: half of it certain, half of it drawn, so that a fleet spreads.
  func wait(afterFailures failures: Int, random: UInt64) -> Duration {
    // Past 2^40 the cap has long been reached, whatever the base.
    let ceiling = min(failureCap, failureBase * (1 << min(max(failures, 1) - 1, 40)))
    return ceiling / 2 + ceiling / 2 * (Double(random >> 11) * 0x1p-53)
  }
}
