import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Options that make no sense", .timeLimit(.minutes(10)))
struct OptionTests {
  @Test(arguments: [
    (SyncOptions(pageSize: 0), "1 record or more"),
    (SyncOptions(pagesAhead: -1), "pagesAhead"),
    (SyncOptions(maximumConcurrentTypes: 0), "maximumConcurrentTypes"),
    (SyncOptions(retry: RetryPolicy(attempts: 0)), "at least once"),
    (SyncOptions(retry: RetryPolicy(cap: .seconds(-1))), "not negative"),
    (SyncOptions(leaseDuration: .milliseconds(9)), "10 ms or more"),
    (SyncOptions(massDeletionRecords: -1), "mass deletion"),
    (SyncOptions(massDeletionShare: 1.1), "mass deletion"),
  ])
  func areRefusedByName(_ options: SyncOptions, _ name: String) async {
    await #expect {
      _ = try await World(options: options)
    } throws: {
      ($0 as? SyncError)?.code == .invalidConfiguration && "\($0)".contains(name)
    }
  }

  @Test func arePoliciesOfTypesThatAreNotDeclared() async {
    await #expect {
      _ = try await SyncEngine(
        schema: SyncSchema(Entity("games")), store: InMemoryStore(), source: InMemoryRemote(),
        edits: EditOptions(policies: ["games": ServerWins(), "game": ServerWins()]))
    } throws: {
      ($0 as? SyncError)?.code == .invalidConfiguration && "\($0)".contains("for game, which is not declared")
    }
  }

  @Test func areThoseOfASourceAsWell() async {
    var pageless = InMemoryRemote.Configuration.privateZone
    pageless.maximumPageSize = 0
    for configuration in [pageless, .timestampedCollection(overlap: .zero)] {
      await #expect {
        _ = try await World(configuration: configuration)
      } throws: {
        ($0 as? SyncError)?.code == .invalidConfiguration
      }
    }
  }
}
