import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Testing

@Suite("The store in memory", .timeLimit(.minutes(10)))
struct StoreConformanceTests {
  @Test(arguments: LocalStoreCheck.allCases)
  func keepsThePromisesOfALocalStore(_ check: LocalStoreCheck) async throws {
    let outcome = try await check.run(on: harness(of: InMemoryStore.init))
    guard case .skipped(let reason) = outcome else { return }
    // Only this check does not apply to a store that lives as long as its process.
    #expect(check == .reopenedStoreHoldsWhatWasCommitted, "\(reason)")
    try Test.cancel("\(reason)")
  }
}

/// A harness for a store that is created with an identity and a lease clock.
func harness<Store: LocalStore>(
  of make: @Sendable (String, @escaping @Sendable () -> Timestamp) -> Store
) -> LocalStoreHarness {
  let clock = ManualClock()
  let stamp: @Sendable () -> Timestamp = { clock.timestamp }
  let (store, another) = (make("store", stamp), make("another", stamp))
  return LocalStoreHarness(
    open: { store }, openAnother: { another }, advanceLeaseClock: { clock.advance(by: $0) })
}
