#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncConformance
  import SyncSimulation
  import Testing

  // The code of the products' pages, which are in their catalogues.

  private struct ProductPages {
    func engineOnFakes(schema: SyncSchema) async throws {
      let remote = InMemoryRemote()
      remote.upsert("teams", "t1", #"{"id": "t1", "name": "Herons"}"#)
      let engine = try await SyncEngine(schema: schema, store: InMemoryStore(), source: remote, sink: remote)
      _ = try await engine.sync()
    }

    let harness: @Sendable () -> SourceHarness

    func conforms(_ check: SourceCheck) async throws {
      if case .skipped(let reason) = try await check.run(on: harness()) { try Test.cancel("\(reason)") }
    }

    func worlds() {
      var simulation = Simulation()
      simulation.useMergePolicy(FieldwiseLastWriteWins())
      #expect(simulation.run(seeds: 0..<100).failures.map(\.outcome.violations) == [])
    }
  }
#endif
