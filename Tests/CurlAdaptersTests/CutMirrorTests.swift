#if Curl && os(Linux)
  import CanonicalSync
  import CanonicalSyncTestServers
  import CurlAdapters
  import HTTPAdapters
  import KintoAdapters
  import InMemoryAdapters
  import SyncConformance
  import Testing

  /// The first answer is cut. The next one is complete.
  @Suite("Mirrors of a server with truncated answers", .timeLimit(.minutes(30)))
  struct CutMirrorTests {
    private static let records = (0..<8).map { number in
      #"{"id":"k\#(number)","last_modified":\#(1_700_000_000_000 + number),"value":\#(number)}"#
    }
    private static let body = #"{"data":[\#(records.joined(separator: ","))]}"#
    private static let head =
      "HTTP/1.1 200 OK\r\nETag: \"1700000000007\"\r\nContent-Type: application/json\r\n"
    private static let plain = "\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    private static let chunked =
      "\(head)Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"

    /// Mirrors the page through a proxy that cuts the first answer.
    ///
    /// Returns the number of bytes of the complete answer.
    private func mirror(
      _ scheme: String, _ port: Int, _ transport: CurlTransport, cuttingAfter cut: Int
    ) async throws -> Int {
      var longest = 0
      try await CutProxy.with(port, cuttingAfter: cut) { proxy in
        var options = KintoSource.Options()
        options.allowsPlainHTTP = true
        let source = try KintoSource(
          server: "\(scheme)://127.0.0.1:\(proxy.port)/v1", bucket: "b", options: options,
          transport: transport)
        let store = InMemoryStore()
        let engine = try await SyncEngine(
          schema: SyncSchema(Entity("items")), store: store, source: source,
          options: SyncOptions(retry: RetryPolicy(attempts: 2, base: .zero)))
        let result = try await engine.sync()
        #expect(result.failures.isEmpty, "cut after \(cut)")
        let mirrored = store.records(of: "items").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
        #expect(mirrored.sorted() == Self.records, "cut after \(cut)")
        longest = proxy.longest
      }
      return longest
    }

    private func mirrorEachCut(_ scheme: String, _ port: Int, step: Int = 1) async throws -> Int {
      var options = CurlTransport.Options()
      options.certificateAuthorities = scheme == "https" ? TLSFront.authority : nil
      let transport = CurlTransport.alone(options)
      let whole = try await mirror(scheme, port, transport, cuttingAfter: .max)
      for cut in stride(from: 0, to: whole, by: step) {
        _ = try await mirror(scheme, port, transport, cuttingAfter: cut)
      }
      return whole
    }

    @Test(arguments: [Self.plain, Self.chunked])
    func endEqualWhereverItIsCut(_ answer: String) async throws {
      try await LoopbackServer.following({ _, send in send(Array(answer.utf8)) }) { server in
        let count = try await mirrorEachCut("http", server.port)
        #expect(count == answer.utf8.count)
      }
    }

    @Test(.enabled(if: TLSFront.authority != nil, "openssl or python3 is missing."))
    func endEqualWhereverTheEncryptedBytesAreCut() async throws {
      try await TLSFront.following({ _, send in send(Array(Self.chunked.utf8)) }) { server in
        let count = try await mirrorEachCut("https", server.port, step: Seeds.isSoak ? 1 : 7)
        #expect(count > Self.chunked.utf8.count)
      }
    }
  }
#endif
