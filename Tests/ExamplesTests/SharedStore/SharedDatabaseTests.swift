#if SQLite && Postgres
  import CanonicalSyncTestPostgres
  import CanonicalSyncTestServers
  import CanonicalSyncToolSupport
  import Foundation
  import InMemoryAdapters
  import Testing

  /// Processes that edit and sync one database, with kills, stops, lost connections and restarts.
  ///
  /// Some stops last longer than the lease. The remote's server outlives them all.
  @Suite(
    "Processes that share a database", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: ThrowawayCluster.isPossible))
  struct SharedDatabaseTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The number of rounds: `CANONICALSYNC_ROUNDS`, or 100 in a soak run, or 8.
    static let rounds =
      environment["CANONICALSYNC_ROUNDS"].flatMap { Int($0) }
      ?? (environment["CANONICALSYNC_SOAK"] == nil ? 8 : 100)
    /// The seed of random decisions. Instants also depend on the machine.
    static let seed = environment["CANONICALSYNC_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)

    /// How the processes reach the database.
    enum Way: String, CaseIterable {
      case connections, pool, pooler

      /// The ways that are possible here.
      static var present: [Way] { Pooler.isThere ? allCases : [.connections, .pool] }
    }

    @Test(arguments: Way.present)
    func loseNothingAndDoubleNothingWhateverHappensToThem(_ way: Way) async throws {
      let replay: Comment =
        "CANONICALSYNC_SEED=\(Self.seed) swift test --filter SharedDatabaseTests tries the same again"
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      try await BookkeepingKinto.with(batchLimit: 7) { server in
        var random = SplitMix64(seed: Self.seed)
        let others = Others(server, random: SplitMix64(seed: Self.seed))
        others.writeTheFirstRecords()
        let store = "\(cluster.address)?schema=shared"
        try await OpenedStore.open(store).close()
        try Audit.begin(in: cluster)
        let pooler =
          way == .pooler ? try await Pooler("transaction", sessions: 8, before: cluster.address) : nil
        defer { pooler?.stop() }
        let place = "\(way == .connections ? "" : "pool:")\(pooler?.address ?? cluster.address)?schema=shared"
        var crew = try Crew(
          of: 5, store: place, server: server, others: others, random: SplitMix64(seed: ~Self.seed))
        defer { crew.killAll() }
        var (round, cuts, restarts) = (0, 0, 0)
        // A run without these events would prove nothing.
        while round < Self.rounds || crew.kills == 0 || crew.takeovers == 0 || !crew.hasLostALease {
          round += 1
          if round == 2 || random.once(in: 4) {
            try cluster.cutConnections()
            cuts += 1
          }
          if round == 4 || random.once(in: 12) {
            try cluster.restart()
            restarts += 1
          }
          try await crew.strike()
        }
        others.rest()
        let account = try await crew.end()

        try await expectTheTruth(in: store, at: server, account: account, others: others, replay)
        // A server that is away for long fails syncs and edits.
        #expect(account.unexpectedFailures.filter { $0.key != "storeFailure" } == [:], replay)
        #expect(account.made.count > Self.rounds, replay)
        let audit = try Audit(of: cluster)
        #expect(audit.doubleHolders == "0" && audit.returns == "0" && audit.repetitions == "0", replay)
        print(
          """
          \(way), \(round) rounds, seed \(Self.seed): \(crew.kills) kills, \(crew.stops) stops, \(crew.takeovers) takeovers, \
          \(cuts) cuts of all connections, \(restarts) restarts; \(account.made.count) edits, \(audit.summary), \
          failures \(account.failures)
          """)
      }
    }
  }

  /// What the database itself noted of each commit of a page.
  private struct Audit {
    /// The leases under which more than one process committed.
    let doubleHolders: String
    /// The commits after one of a later lease.
    let returns: String
    /// The places of the pull that were committed again after another one.
    let repetitions: String
    let summary: String

    /// Makes the database note the lease and the process of each commit of a checkpoint.
    static func begin(in cluster: ThrowawayCluster) throws {
      try cluster.sql(
        """
        CREATE TABLE shared.audit (n bigserial, fence bigint, who text, value bytea);
        CREATE FUNCTION shared.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO shared.audit (fence, who, value)
            SELECT fence, current_setting('application_name'), NEW.value FROM shared.store;
          RETURN NULL;
        END $$;
        CREATE TRIGGER note AFTER INSERT OR UPDATE ON shared.kept FOR EACH ROW
          WHEN (NEW.id = 'checkpoint/items'::bytea) EXECUTE FUNCTION shared.note()
        """)
    }

    init(of cluster: ThrowawayCluster) throws {
      // Writes queue, so the numbers follow the order of commits.
      doubleHolders = try cluster.sql(
        """
        SELECT count(*) FROM (SELECT fence FROM shared.audit GROUP BY fence HAVING count(DISTINCT who) > 1) AS a
        """)
      returns = try cluster.sql(
        """
        SELECT count(*) FROM (SELECT fence, lag(fence) OVER (ORDER BY n) AS before FROM shared.audit) AS a
        WHERE fence < before
        """)
      repetitions = try cluster.sql(
        """
        SELECT count(*) FROM (SELECT value FROM (SELECT value, lag(value) OVER (ORDER BY n) AS before
        FROM shared.audit) AS a WHERE value IS DISTINCT FROM before GROUP BY value HAVING count(*) > 1) AS b
        """)
      summary = try cluster.sql(
        """
        SELECT count(*) || ' commits of pages under ' || count(DISTINCT fence) || ' leases by ' ||
        count(DISTINCT who) || ' processes' FROM shared.audit
        """)
    }
  }
#endif
