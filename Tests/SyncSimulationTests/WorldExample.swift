import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPictures
import SyncPorts
import SyncSimulation
import Testing

// The code of Docs/Testing.md, as it stands there.

/// A source behind a gateway that hands out two records at a time.
struct GatewaySource: RemoteRecordSource {
  let base: any RemoteRecordSource
  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let request = PageRequest(
      entity: request.entity, position: request.position, limit: min(request.limit, 2), pass: request.pass)
    return try await base.page(request)
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await base.lookup(ids, of: entity)
  }
}

@Suite("Custom parts")
struct OwnPartsTests {
  @Test func mySourceKeepsEveryPromise() {
    var simulation = Simulation()
    simulation.useSource { remote in GatewaySource(base: remote) }
    #expect(simulation.run(seeds: 0..<20).failures.map(\.outcome.violations) == [])
  }

  @Test func myStoreKeepsEveryPromise() {
    var simulation = Simulation()
    simulation.useStores { leaseClock in
      let store = InMemoryStore(leaseClock: leaseClock)
      return StoreBench(open: { store })
    }
    #expect(simulation.run(seeds: 0..<20).failures.map(\.outcome.violations) == [])
  }
}

/// Draws the first world that breaks a promise; `nil` if none does.
func picture(_ simulation: Simulation, seeds: Range<UInt64>) -> WorldPicture? {
  let outcomes = seeds.lazy.map { simulation.run(seed: $0) }
  guard let broken = outcomes.first(where: { !$0.violations.isEmpty }) else { return nil }
  return simulation.picture(of: simulation.shrink(broken.recording))
}
