import CanonicalSync
import CurlAdapters
import HTTPAdapters
import KintoAdapters
import Testing

// The code of Docs/MirroringKinto.md, with stand-ins. AsyncHTTPClient and NIO are not dependencies
// of this package, so the declarations that the code uses are repeated below.

/// Carries requests by AsyncHTTPClient.
struct AsyncHTTPTransport: HTTPTransport {
  /// Made with `redirectConfiguration = .disallow` and `decompression = .disabled`.
  let client: HTTPClient

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    var wire = HTTPClientRequest(url: "\(request.address)")
    wire.method = HTTPMethod(rawValue: request.method)
    for (name, value) in request.headers.fields { wire.headers.add(name: name, value: value) }
    if !request.body.isEmpty { wire.body = .bytes(request.body) }
    let operation = "asking \(request.address.origin)"
    var response = HTTPResponse(status: 0)
    do {
      let answer = try await client.execute(wire, timeout: .nanoseconds(request.deadline.nanoseconds))
      response.status = Int(answer.status.code)
      for (name, value) in answer.headers { response.headers[name] = value }
      for try await part in answer.body {
        response.body += part.readableBytesView
        // Leaving the loop ends the transfer.
        if response.body.count > request.bodyLimit { break }
      }
    } catch {
      throw SyncError(
        Task.isCancelled ? .cancelled : .remoteUnavailable, during: operation, underlying: error)
    }
    if response.body.count <= request.bodyLimit { return response }
    throw request.answerTooLong
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}

#if Curl && os(Linux)
  func transport() -> any HTTPTransport {
    var options = CurlTransport.Options()
    options.certificateAuthorities = "/etc/ssl/our-authority.pem"
    let transport = CurlTransport(options: options)
    return transport
  }
#endif

#if Curl && os(Linux)
  func engine(
    for schema: SyncSchema, in store: any LocalStore, as token: String
  ) async throws -> SyncEngine {
    let source = try KintoSource(
      server: "https://settings.example.com/v1", bucket: "main", credentials: .bearer(token),
      transport: CurlTransport())
    let engine = try await SyncEngine(schema: schema, store: store, source: source, sink: KintoSink(source))
    return engine
  }
#endif

// MARK: Stand-ins

struct HTTPClient: Sendable {
  var answer: @Sendable (HTTPClientRequest) throws -> HTTPClientResponse

  func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
    try answer(request)
  }
}

struct TimeAmount {
  var nanoseconds: Int64
  static func nanoseconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount) }
}

struct HTTPMethod: RawRepresentable {
  var rawValue: String
}

struct HTTPFields: Sequence {
  var fields: [(name: String, value: String)] = []
  mutating func add(name: String, value: String) { fields.append((name, value)) }
  func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }
}

struct HTTPClientRequest {
  struct Body {
    var bytes: [UInt8]
    static func bytes(_ bytes: [UInt8]) -> Body { Body(bytes: bytes) }
  }
  var url: String
  var method = HTTPMethod(rawValue: "GET")
  var headers = HTTPFields()
  var body: Body?

  init(url: String) { self.url = url }
}

struct HTTPClientResponse {
  struct Status { var code: UInt }
  struct Part { var readableBytesView: ArraySlice<UInt8> }
  var status: Status
  var headers: HTTPFields
  var body: AsyncThrowingStream<Part, any Error>
}

@Suite("A transport over another library")
struct TransportExampleTests {
  @Test(arguments: [4, 5, 6])
  func carriesARequestAndStopsAtItsLimit(_ limit: Int) async throws {
    let client = HTTPClient { request in
      #expect(request.url == "https://kinto.test/v1?a=b")
      #expect(request.method.rawValue == "PUT")
      #expect(request.headers.map(\.name) == ["x-mine"])
      #expect(request.body?.bytes == Array("hi".utf8))
      let parts = AsyncThrowingStream<HTTPClientResponse.Part, any Error> { stream in
        for text in ["ab", "cde"] { stream.yield(.init(readableBytesView: Array(text.utf8)[...])) }
        stream.finish()
      }
      return HTTPClientResponse(
        status: .init(code: 201), headers: HTTPFields(fields: [("ETag", "\"5\"")]), body: parts)
    }
    var request = HTTPRequest(
      "PUT", try #require(HTTPAddress("https://kinto.test/v1?a=b")), headers: ["X-Mine": "1"],
      body: Array("hi".utf8))
    request.bodyLimit = limit
    do throws(SyncError) {
      let response = try await AsyncHTTPTransport(client: client).send(request)
      #expect(response.status == 201)
      #expect(response.headers["etag"] == "\"5\"")
      #expect(response.body == Array("abcde".utf8))
      #expect(limit >= 5)
    } catch {
      #expect(error.code == .invalidResponse)
      #expect(limit < 5)
    }
  }
}
