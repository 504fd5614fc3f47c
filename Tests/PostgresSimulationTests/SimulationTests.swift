#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncModels
  import SyncSimulation
  import Testing

  @Suite("Simulated worlds in PostgreSQL", .enabled(if: Database.isThere), .serialized)
  struct SimulationTests {
    /// The number of worlds.
    static let seeds: UInt64 =
      ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] == nil ? 200 : 1000

    /// The seeds in parts, so that a failure names its part.
    static let parts = stride(from: 0, to: seeds, by: 50).map { $0..<$0 + 50 }

    @Test(.timeLimit(.minutes(10)), arguments: parts)
    func keepEveryPromise(_ seeds: Range<UInt64>) async throws {
      try await Database.withSchemas(seeds.count + 1) { schemas in
        var simulation = Simulation()
        let free = FreeNames(schemas)
        simulation.useStores { (leaseClock) throws(SyncError) in
          let schema = free.next()
          return StoreBench(
            open: { () async throws(SyncError) in
              var configuration = PostgresStore.Configuration(readerCount: 1)
              configuration.leaseClock = leaseClock
              configuration.executor = .inline
              // Every other part of the worlds uses stores of a pool.
              if seeds.lowerBound % 100 == 0 {
                let pool = try PostgresPool(
                  PostgresAddress(Database.address),
                  configuration: .init(connectionCount: 2, cachedStores: 1, store: configuration))
                return try pool.store(inSchema: schema)
              }
              return try await Database.open(schema, configuration)
            },
            close: { store in await (store as? PostgresStore)?.close() })
        }
        let campaign = simulation.run(seeds: seeds)
        #expect(campaign.failures.map { "\($0.seed): \($0.outcome.violations)" } == [])
      }
    }
  }
#endif
