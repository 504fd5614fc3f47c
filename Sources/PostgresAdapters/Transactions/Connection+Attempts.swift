#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  /// The attempts of one transaction, which runs again after a lost connection or a deadlock.
  private struct Attempts {
    private let patience: Duration
    private var lostSince: ContinuousClock.Instant?
    private var pause: Int32 = 20
    private var contentions = 0

    private static let maximumContentions = 20

    /// - Parameter patience: How long to try to connect again.
    init(patience: Duration) { self.patience = patience }

    /// Whether to run the transaction again, after a pause.
    mutating func goOn(after failure: PostgresFailure) -> Bool {
      if failure.isConnectionLost {
        let since = lostSince ?? ContinuousClock.now
        lostSince = since
        guard ContinuousClock.now - since < patience else { return false }
        cpostgres_pause(pause)
        pause = min(500, pause * 2)
        return true
      }
      guard failure.isContention, contentions < Self.maximumContentions else { return false }
      contentions += 1
      cpostgres_pause(Int32.random(in: 1...10))
      return true
    }
  }

  extension Connection {
    /// Runs a body until it succeeds, or another run would not help.
    ///
    /// - Parameter body: Gets whether it runs for the first time, and may rely on what is
    ///   remembered.
    func attempting<R>(_ body: (_ isFirst: Bool) throws(SyncError) -> R) throws(SyncError) -> R {
      // The store has been opened, so its server is there or will return.
      var attempts = Attempts(patience: settings.patience)
      var isFirst = true
      while true {
        failure = nil
        defer { forgetTransaction() }
        do throws(SyncError) {
          do throws(PostgresFailure) {
            try open()
          } catch {
            failure = error
            throw error.error(during: "connecting to PostgreSQL")
          }
          return try body(isFirst)
        } catch {
          // Also if a table or a column is gone, by the registration of another server.
          let isOutdated = transaction.isOutdated || isFirst && failure?.state.hasPrefix("42") == true
          let explained = explained(error)
          rollback()
          cache.kept.forget()
          cache.header = nil
          isFirst = false
          if isOutdated { continue }
          guard let failure, isAbandoned?() != true, attempts.goOn(after: failure) else { throw explained }
        }
      }
    }
  }
#endif
