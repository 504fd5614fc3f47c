import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import InMemoryAdapters
import Synchronization
import Testing

@testable import HTTPAdapters

@Suite("A session with a server")
struct HTTPSessionTests {
  /// Signs each request with a number, and keeps the last token of an answer.
  private final class CountingSignature: HTTPAuthorization {
    let count = Mutex(0)
    let token = Mutex<String?>(nil)

    func authorize(_ request: inout HTTPRequest) {
      request.headers["X-Signature"] = count.withLock { count in
        count += 1
        return "\(count)"
      }
    }

    func receive(_ response: HTTPResponse) {
      if let next = response.headers["X-Next"] { token.withLock { $0 = next } }
    }
  }

  private static func session(
    _ base: String = "https://api.test/v1", authorization: (any HTTPAuthorization)? = nil,
    plain: HTTPSession.PlainHTTP = .refused, over transport: any HTTPTransport
  ) throws(SyncError) -> HTTPSession {
    var options = HTTPSession.Options()
    options.plainHTTP = plain
    return try HTTPSession(
      base, like: "https://api.example.com", authorization: authorization, options: options,
      transport: transport, clock: ManualClock(), during: "preparing")
  }

  @Test func signsEachAttemptAndEachRedirectAnew() async throws {
    let moved = HTTPResponse(status: 307, headers: ["Location": "/v1/new"])
    let transport = ScriptedTransport(
      moved, HTTPResponse(status: 200, headers: ["X-Next": "t1"]), moved,
      HTTPResponse(status: 200, headers: ["X-Next": "t2"]))
    let signature = CountingSignature()
    let session = try Self.session(authorization: signature, over: transport)
    let old = try #require(session.base.resolving("/v1/old"))
    for _ in 1...2 { _ = try await session.send("GET", old, during: "asking") }
    #expect(transport.requests.map { $0.headers["X-Signature"] } == ["1", "2", "3", "4"])
    #expect(transport.requests.map(\.address.path) == ["/v1/old", "/v1/new", "/v1/old", "/v1/new"])
    #expect(signature.token.withLock { $0 } == "t2")
  }

  @Test func sendsNothingDuringAPause() async throws {
    let transport = ScriptedTransport(HTTPResponse(status: 200))
    let session = try Self.session(over: transport)
    session.notices.pause(for: .seconds(9))
    let error = await #expect(throws: SyncError.self) {
      _ = try await session.send("GET", session.base, during: "asking")
    }
    #expect(error?.code == .remoteUnavailable)
    #expect(error?.retryAfter == .seconds(9))
    #expect(transport.requests.isEmpty)
  }

  @Test(arguments: [200, 401, 503])
  func takesTheStatusOfACompressedFailure(_ status: Int) async throws {
    var answer = HTTPResponse(status: status, body: [0x1F, 0x8B])
    answer.headers = ["Content-Encoding": "gzip", "Retry-After": "9"]
    let session = try Self.session(over: ScriptedTransport(answer))
    do throws(SyncError) {
      let taken = try await session.send("GET", session.base, during: "asking")
      #expect(taken.status == status && taken.body.isEmpty && status != 200)
      #expect(session.notices.remainingPause == (status == 503 ? .seconds(9) : nil))
    } catch {
      #expect(error.code == .invalidResponse && status == 200)
    }
  }

  @Test(arguments: ["GET", "HEAD", "PUT", "POST", "DELETE"])
  func sendsNoEditToTheAddressOfItsResult(_ method: String) async throws {
    let elsewhere = HTTPResponse(status: 303, headers: ["Location": "/v1/result"])
    let transport = ScriptedTransport(elsewhere, HTTPResponse(status: 200))
    let session = try Self.session(over: transport)
    let answer = try await session.send(method, session.base, body: [7], during: "asking")
    let isRead = method == "GET" || method == "HEAD"
    #expect(answer.status == (isRead ? 200 : 303))
    #expect(transport.requests.map(\.address.path) == (isRead ? ["/v1", "/v1/result"] : ["/v1"]))
  }

  @Test(arguments: [
    ("http://127.0.0.1:80", true), ("http://localhost:8000/api/", true), ("http://[::1]:1", true),
    ("http://127.0.0.1.example.com", false), ("http://128.0.0.1", false), ("https://example.com", true),
  ])
  func sendsInTheClearOnlyToThisMachine(_ base: String, isAllowed: Bool) {
    do throws(SyncError) {
      _ = try Self.session(base, plain: .onLoopback, over: ScriptedTransport())
      #expect(isAllowed)
    } catch {
      #expect(!isAllowed && error.code == .invalidConfiguration)
    }
  }

  @Test func readsASecretWhenARequestNeedsIt() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let transport = ScriptedTransport(HTTPResponse(status: 200), HTTPResponse(status: 200))
    let session = try Self.session(
      authorization: HTTPCredentials.header("X-Api-Key", .file(file.path)), over: transport)
    let error = await #expect(throws: SyncError.self) {
      _ = try await session.send("GET", session.base, during: "asking")
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.operation == "asking")
    for secret in ["one\n", "two\r\n"] {
      try Data(secret.utf8).write(to: file)
      _ = try await session.send("GET", session.base, during: "asking")
    }
    #expect(transport.requests.map { $0.headers["x-api-key"] } == ["one", "two"])
  }

  @Test(arguments: ["", "\n", String(repeating: "x", count: 70_000)])
  func refusesAFileThatHoldsNoSecret(_ content: String) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(content.utf8).write(to: file)
    let error = #expect(throws: SyncError.self) { _ = try HTTPSecret.file(file.path).read() }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.description.contains("xxx") == false)
  }

  @Test func neverPrintsASecret() {
    let secrets: [HTTPCredentials] = [
      .bearer("s3cret"), .basic(user: "me", password: "s3cret"), .header("X-Key", .text("s3cret")),
    ]
    for credentials in secrets {
      var dumped = ""
      dump(credentials, to: &dumped)
      #expect(!"\(credentials) \(String(reflecting: credentials)) \(dumped)".contains("s3cret"))
    }
    #expect("\(HTTPSecret.text("s3cret")) \(HTTPSecret.environment("TOKEN"))" == "a secret env:TOKEN")
  }

  @Test func refusesCredentialsThatNoHeaderCanHold() {
    let wrong: [HTTPCredentials] = [.bearer("a\nb"), .header("X Key", .text("a")), .header("", .text("a"))]
    for credentials in wrong {
      #expect(throws: SyncError.self) {
        _ = try Self.session(authorization: credentials, over: ScriptedTransport())
      }
    }
  }
}
