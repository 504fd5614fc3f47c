import SyncModels
public import SyncPorts

/// The rate limit of a ``SyncCoordinator``, and its waits after failures.
public struct SyncPacing: Hashable, Sendable {
  /// The most syncs that start within ``window``, whatever their triggers.
  public var runs: Int
  /// The period that ``runs`` counts.
  public var window: Duration
  /// How long the first push signal waits for others to come.
  public var gathering: Duration
  /// The longest wait after the first failure. Each further failure doubles it.
  public var failureBase: Duration
  /// The longest wait after any number of failures.
  public var failureCap: Duration
  /// The longest wait that a remote may ask for.
  public var longestPause: Duration

  /// Creates a pace.
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

  /// Returns the wait after consecutive failures.
  ///
  /// Half of the wait is fixed and half is random, so that the requests of a fleet spread.
  func wait(afterFailures failures: Int, random: UInt64) -> Duration {
    let ceiling = failureBase.doubled(times: failures - 1, upTo: failureCap)
    return ceiling / 2 + ceiling / 2 * random.fraction
  }
}

/// When an app requests time in the background.
///
/// Both requests are submitted after the app's launch and whenever it goes to the background. Each
/// is submitted again before its work begins, so that the system wakes a process that dies during
/// the work.
public struct BackgroundPolicy: Hashable, Sendable {
  /// The earliest start of a refresh, counted from its request.
  public var refreshAfter: Duration
  /// When sync and clean-up are due, in the app's time zone.
  public var processingAt: TimeOfDay
  /// Whether sync and clean-up wait for external power.
  public var processingNeedsPower: Bool

  /// Creates a policy; by default sync and clean-up wait for external power.
  public init(
    refreshAfter: Duration = .seconds(3600), processingAt: TimeOfDay = TimeOfDay(hour: 2),
    processingNeedsPower: Bool = true
  ) {
    self.refreshAfter = refreshAfter
    self.processingAt = processingAt
    self.processingNeedsPower = processingNeedsPower
  }

  /// Returns the request of a kind.
  func request(for kind: BackgroundRequest.Kind) -> BackgroundRequest {
    switch kind {
    case .refresh: BackgroundRequest(.refresh, earliest: .after(refreshAfter))
    case .processing:
      BackgroundRequest(
        .processing, earliest: .next(processingAt), needsNetwork: true,
        needsExternalPower: processingNeedsPower)
    }
  }
}

/// The pacing that outlives a process.
///
/// The store keeps it, so a restart neither forgets a pause nor restarts one. It may be damaged,
/// and hold any number.
struct PacingState: Hashable, Sendable, Codable {
  /// When a sync last began.
  var lastAttempt: Timestamp?
  /// When a sync was last completed.
  var lastSuccess: Timestamp?
  /// The number of failed syncs since the last success.
  var failures = 0
  /// When the pause after those failures ends.
  var retryAt: Timestamp?
  /// When the pause that the remote asked for ends.
  var pausedUntil: Timestamp?
  /// When those pauses were recorded, by the clock that gave their ends.
  var pausedAt: Timestamp?
  /// When background time or the network ended during a sync that is owed another attempt.
  ///
  /// `nil` once that attempt has begun.
  var interruptedAt: Timestamp?

  private static let key = ValueKey<PacingState>(.sync, "pacing")

  /// Loads the stored pacing, combined with the status of the single types.
  ///
  /// The types' status counts because an app may sync without a coordinator.
  static func load(_ types: [RecordType], from store: any LocalStore) async throws(SyncError) -> PacingState {
    try await store.read { (snapshot) throws(SyncError) in
      // A value of an unknown format is ignored: at worst there is one sync too many.
      var record = try snapshot.value(ifReadableOf: key) ?? PacingState()
      let statuses = try types.map { (type) throws(SyncError) in
        try PassOutcomes.load(for: type, from: snapshot)
      }
      // An attempt at one type does not make the other types fresh.
      let attempt = earliest(statuses.map(\.lastAttempt))
      record.lastAttempt = [record.lastAttempt, attempt].compactMap(\.self).max()
      record.lastSuccess = record.lastSuccess ?? earliest(statuses.map(\.lastSuccess))
      return record
    }
  }

  /// The earliest of some times; `nil` if one is missing.
  private static func earliest(_ times: [Timestamp?]) -> Timestamp? {
    times.contains(nil) ? nil : times.compactMap(\.self).min()
  }

  /// Saves the pacing in the store.
  func save(in store: any LocalStore) async throws(SyncError) {
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.set(self, for: Self.key)
    }
  }
}
