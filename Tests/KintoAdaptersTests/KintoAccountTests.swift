import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Whose records a Kinto server shows", .timeLimit(.minutes(10)))
struct KintoAccountTests {
  /// A server that shows each user a record of their own, and one that all share.
  private final class Server: HTTPTransport {
    private let log = Mutex<(writers: [String], lists: Int)>(([], 0))

    /// The users whose edits have arrived.
    var writers: [String] { log.withLock { $0.writers } }
    /// The number of complete listings.
    var lists: Int { log.withLock { $0.lists } }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let user = Self.user(of: request)
      guard request.method == "GET", request.address.path.hasSuffix("/records") else {
        guard request.method == "POST" else { return HTTPResponse(status: 200, body: Array("{}".utf8)) }
        log.withLock { $0.writers.append(user) }
        let data = #"{"status":200,"body":{"data":{"id":"x","last_modified":20000,"n":2}}}"#
        return HTTPResponse(status: 200, body: Array(#"{"responses":[\#(data)]}"#.utf8))
      }
      let isWritten = log.withLock { !$0.writers.isEmpty }
      let headers: HTTPHeaders = ["ETag": #""20000""#, "Date": HTTPDateText.text(20_000)]
      if request.address.query?.contains("_since") == true {
        return HTTPResponse(status: 200, headers: headers, body: Array(#"{"data":[]}"#.utf8))
      }
      log.withLock { $0.lists += 1 }
      let shared = #"{"id":"x","last_modified":\#(isWritten ? 20_000 : 1000),"n":\#(isWritten ? 2 : 1)}"#
      let body = #"{"data":[{"id":"\#(user)","last_modified":900},\#(shared)]}"#
      return HTTPResponse(status: 200, headers: headers, body: Array(body.utf8))
    }

    private static func user(of request: HTTPRequest) -> String {
      let words = (request.headers["Authorization"] ?? "").split(separator: " ")
      guard words.count == 2 else { return "nobody" }
      guard words[0] == "Basic", let data = Data(base64Encoded: String(words[1])) else {
        return String(words[1].prefix { $0.isLetter })
      }
      return String(String(decoding: data, as: UTF8.self).prefix { $0 != ":" })
    }
  }

  private let server = Server()
  private let store = InMemoryStore()
  private let clock = ManualClock()
  private static let x = RecordID(type: "items", key: "x")

  private func engine(_ credentials: HTTPCredentials, account: String? = nil) async throws -> SyncEngine {
    let source = try KintoSource(
      server: "https://kinto.test/v1", bucket: "b", credentials: credentials, transport: server, clock: clock)
    return try await SyncEngine(
      schema: SyncSchema([Entity("items")]), store: store, source: source, sink: KintoSink(source),
      clock: clock,
      account: account)
  }

  private func edit(_ engine: SyncEngine) async throws {
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(Self.x) { $0["n"] = Array("2".utf8)[...] }
    }
  }

  private func shown() -> [String] { store.records(of: "items").map(\.id.key).sorted() }

  @Test(arguments: [
    (HTTPCredentials.basic(user: "ann", password: "1"), HTTPCredentials.basic(user: "bob", password: "1")),
    (.bearer("ann1"), .bearer("bob1")),
  ])
  func anotherOnesCredentialsNeitherSendEditsNorShowRecords(
    _ former: HTTPCredentials, _ latter: HTTPCredentials
  ) async throws {
    let first = try await engine(former)
    _ = try await first.sync()
    #expect(shown() == ["ann", "x"])
    try await edit(first)
    let second = try await engine(latter)
    for _ in 1...3 {
      _ = try await second.sync()
      clock.advance(by: .seconds(1))
      #expect(server.writers == [])
      #expect(try await second.edits.pending("items").map(\.id) == [Self.x])
    }
    #expect(shown() == ["bob", "x"])
    try await second.edits.retry("items", ["x"])
    _ = try await second.sync()
    #expect(server.writers == ["bob"])
  }

  /// A user's password, and the token of an account that the app names.
  @Test(arguments: [
    (
      HTTPCredentials.basic(user: "ann", password: "1"), HTTPCredentials.basic(user: "ann", password: "2"),
      String?.none
    ),
    (.bearer("ann1"), .bearer("ann2"), "ann"),
  ])
  func aRenewedSecretOfTheSameAccountCostsNothing(
    _ former: HTTPCredentials, _ latter: HTTPCredentials, _ account: String?
  ) async throws {
    let first = try await engine(former, account: account)
    _ = try await first.sync()
    try await edit(first)
    let second = try await engine(latter, account: account)
    let result = try await second.sync()
    #expect(server.writers == ["ann"])
    #expect(result.pushed.accepted == 1 && result.pushed.refused == 0)
    #expect(server.lists == 1)
    #expect(shown() == ["ann", "x"])
  }
}
