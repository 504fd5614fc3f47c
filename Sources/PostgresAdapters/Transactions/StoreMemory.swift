#if Postgres
  import CanonicalSyncDatabases
  import Synchronization

  /// What is known of a store between its transactions.
  struct StoreMemory: Sendable {
    var settings: ConnectionSettings
    let losses: LossCount
    var cache = StoreCache()
    /// Whether other writers commit between this one's commits.
    var isContended = false
    var forecasts = ReadForecasts()
    var plans = KeptPlans()
    /// The number of the last commit of the store's writer.
    var token: Int64 = 0
    /// The number of losses when the cache was written.
    private var lossesBefore: Int64 = 0

    init(_ settings: ConnectionSettings, _ losses: LossCount) {
      (self.settings, self.losses) = (settings, losses)
    }

    /// Forgets what another connection's server told before it was lost.
    ///
    /// A server that ended may have lost commits, and then numbers others as those.
    mutating func renew() {
      let now = losses.value
      if now != lossesBefore { cache = StoreCache() }
      lossesBefore = now
    }
  }

  /// What is read of a store once, until it changes.
  struct StoreCache: Sendable {
    var catalog = Catalog()
    var kept = KeptCache()
    /// The store's header as the last transaction left it; `nil` if that is not known.
    var header: StoreHeader?
  }

  /// Counts the lost connections of a store, or of a pool, and commits with an unknown outcome.
  ///
  /// A server that ended may have lost commits that others had read already, and gives their
  /// positions to others. So the value rises by more than any number of positions.
  final class LossCount: Sendable {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func add() { count.add(1 << 40, ordering: .relaxed) }
  }
#endif
