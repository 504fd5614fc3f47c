import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncModels
import Synchronization
import Testing

@Suite("Records edited between pages", .timeLimit(.minutes(10)))
struct ConcurrentEditTests {
  private func withNine(_ kind: KintoKind, _ body: (RealKinto) async throws -> Void) async throws {
    try await kind.with(["items"]) { kinto in
      for number in 1...9 { try await kinto.put("items", "k\(number)", "\"value\":0") }
      try await body(kinto)
    }
  }

  /// Pulls one pass; returns each record's last listed value and the next delta's start.
  private func pull(
    _ source: KintoSource, since token: SyncToken? = nil, limit: Int = 3,
    between: (Int) async throws -> Void = { _ in }
  ) async throws -> (values: [String: FieldValue], token: SyncToken?) {
    let entity = Entity("items", indexes: ["value"])
    var position = PullPosition.start(since: token)
    var values: [String: FieldValue] = [:]
    var start: SyncToken?
    for number in 1...100 {
      let page = try await source.page(
        PageRequest(entity: entity, position: position, limit: limit, pass: 1))
      start = start ?? page.startToken
      for change in page.changes {
        switch change {
        case .upsert(let record): values[record.id.key] = record.fields[0]
        case .tombstone(let tombstone): values[tombstone.id.key] = .null
        case .malformed: Issue.record("There is no malformed record.")
        }
      }
      guard case .more(let next, _) = page.next else { return (values, start) }
      try await between(number)
      position = .resume(next)
    }
    Issue.record("The pass did not end.")
    return (values, start)
  }

  @Test(arguments: KintoKind.present)
  func aRecordEditedBetweenTwoPagesIsInThePassItself(_ kind: KintoKind) async throws {
    try await withNine(kind) { kinto in
      let pass = try await pull(kinto.source()) { page in
        // A record that was not listed yet, and one that was.
        guard page == 1 else { return }
        try await kinto.put("items", "k5", "\"value\":5")
        try await kinto.put("items", "k1", "\"value\":1")
      }
      #expect(pass.values.count == 9)
      #expect(pass.values["k5"] == 5)
      #expect(pass.values["k1"] == 1)
    }
  }

  @Test(arguments: KintoKind.present)
  func inDescendingOrderTheSameEditIsLostToThePassAndToADeltaFromItsEnd(_ kind: KintoKind) async throws {
    try await withNine(kind) { kinto in
      let records = "/collections/items/records"
      let first = try await kinto.send("GET", "\(records)?_sort=-last_modified&_limit=3")
      try await kinto.put("items", "k5", "\"value\":5")
      var seen = String(decoding: first.body, as: UTF8.self)
      var next = first.headers["Next-Page"]
      var etag = first.headers["ETag"]
      while let address = next {
        let page = try await kinto.send("GET", "", in: address)
        seen += String(decoding: page.body, as: UTF8.self)
        (next, etag) = (page.headers["Next-Page"], page.headers["ETag"])
      }
      #expect(!seen.contains("\"k5\""))
      let since = try #require(etag?.filter { $0 != "\"" })
      let delta = try await kinto.send("GET", "\(records)?_since=\(since)")
      #expect(String(decoding: delta.body, as: UTF8.self) == #"{"data":[]}"#)
      // The source's method: the delta starts from the first page.
      let start = try #require(first.headers["ETag"]?.filter { $0 != "\"" })
      let better = try await kinto.send("GET", "\(records)?_since=\(start)")
      #expect(String(decoding: better.body, as: UTF8.self).contains("\"k5\""))
    }
  }

  @Test(arguments: KintoKind.present)
  func aServerThatListsInAnotherOrderIsNotBelieved(_ kind: KintoKind) async throws {
    try await withNine(kind) { kinto in
      var options = KintoSource.Options()
      options.allowsPlainHTTP = true
      let source = try KintoSource(
        server: kinto.server, bucket: kinto.bucket, credentials: RealKinto.credentials, options: options,
        transport: TurnedRound(base: kinto.transport))
      let error = await #expect(throws: SyncError.self) { _ = try await pull(source) }
      #expect(error?.code == .invalidResponse)
    }
  }

  @Test(arguments: KintoKind.present, 1...5)
  func whatChangesDuringThePagesConvergesInOneMoreRun(_ kind: KintoKind, _ seed: UInt64) async throws {
    try await withNine(kind) { kinto in
      let random = Mutex(SplitMix64(seed: seed))
      func change() async throws {
        for _ in 0..<6 {
          let (key, value, isDeletion) = random.withLock {
            (
              "k\(Int.random(in: 1...20, using: &$0))", Int.random(in: 1...1000, using: &$0),
              Int.random(in: 0..<4, using: &$0) == 0
            )
          }
          if isDeletion {
            // The record may be missing.
            _ = try? await kinto.delete("items", key)
          } else {
            try await kinto.put("items", key, "\"value\":\(value)")
          }
        }
      }
      let source = try kinto.source()
      let first = try await pull(source) { if $0 <= 4 { try await change() } }
      let second = try await pull(source, since: first.token) { if $0 <= 4 { try await change() } }
      let third = try await pull(source, since: second.token)
      var replica = first.values
      for pass in [second, third] { replica.merge(pass.values) { _, later in later } }
      let listed = try await pull(source, limit: 400).values
      #expect(replica.filter { $0.value != .null } == listed)
    }
  }
}

/// Reverses the order of the listing.
private struct TurnedRound: HTTPTransport {
  let base: any HTTPTransport

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    var request = request
    let address = request.address.description.replacing(
      "_sort=last_modified%2Cid", with: "_sort=-last_modified")
    guard let turned = HTTPAddress(address) else { return HTTPResponse(status: 500) }
    request.address = turned
    return try await base.send(request)
  }
}
