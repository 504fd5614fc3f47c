#if Curl && os(Linux)
  import CanonicalSyncTestServers
  import CurlAdapters
  import SyncConformance
  import Testing

  @Suite("libcurl as a transport", .timeLimit(.minutes(10)))
  struct CurlConformanceTests {
    @Test(arguments: TransportCheck.allCases)
    func keepsThePromisesOfATransport(_ check: TransportCheck) async throws {
      #expect(try await check.run(on: TransportHarness(CurlTransport.alone())) == .kept)
    }

    @Test(
      .enabled(if: TLSFront.authority != nil, "openssl or python3 is missing."),
      arguments: TransportCheck.allCases)
    func keepsThemOverTLS(_ check: TransportCheck) async throws {
      var options = CurlTransport.Options()
      options.certificateAuthorities = TLSFront.authority
      let harness = TransportHarness(CurlTransport.alone(options), overTLS: true)
      #expect(try await check.run(on: harness) == .kept)
    }
  }
#endif
