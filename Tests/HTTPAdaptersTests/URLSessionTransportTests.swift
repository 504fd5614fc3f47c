#if canImport(Darwin)
  import CanonicalSyncTestServers
  import HTTPAdapters
  import SyncConformance
  import Testing

  @Suite("URLSession as a transport", .timeLimit(.minutes(10)))
  struct URLSessionTransportTests {
    @Test(arguments: TransportCheck.allCases)
    func keepsThePromisesOfATransport(_ check: TransportCheck) async throws {
      #expect(try await check.run(on: TransportHarness(URLSessionTransport())) == .kept)
    }
  }
#endif
