import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncModels
import SyncPorts
import Testing

@Suite("The meaning of Kinto's answers to edits", .timeLimit(.minutes(10)))
struct KintoSinkTests {
  private func change(_ key: String, _ json: String? = #"{"v":1}"#, on tag: Int64? = nil) -> OutgoingChange {
    let id = RecordID(type: "items", key: key)
    let base = tag.map {
      OutboxEntry.Base.copy(
        Record(
          id: id, version: Version(modifiedAt: Timestamp(milliseconds: $0)), entityTag: "\($0)",
          payload: Payload(Array("{}".utf8)), fields: []))
    }
    return OutgoingChange(
      id: id, content: json.map { .upsert(Payload(Array($0.utf8)), schemaVersion: 1) } ?? .deletion,
      base: base ?? .none, key: IdempotencyKey(key),
      stamp: EditStamp(physical: Timestamp(milliseconds: 1), replica: "test"))
  }

  private func batch(_ responses: String...) -> HTTPResponse {
    HTTPResponse(status: 200, body: Array(#"{"responses":[\#(responses.joined(separator: ","))]}"#.utf8))
  }

  private func push(
    _ changes: [OutgoingChange], answered answers: HTTPResponse...
  ) async throws -> (outcomes: [PushOutcome], requests: [HTTPRequest]) {
    let transport = ScriptedTransport(answers)
    let sink = KintoSink(try KintoSource.over(transport, credentials: .bearer("secret")))
    let outcomes = try await sink.push(changes, entities: SyncSchema(Entity("items")))
    #expect(transport.unread == 0)
    return (outcomes, transport.requests)
  }

  @Test func aBatchSaysWhatEachChangeIsMadeOn() async throws {
    let accepted = #"{"status":200,"body":{"data":{"id":"KEY","last_modified":9,"v":1}}}"#
    let deleted = #"{"status":200,"body":{"data":{"id":"c","last_modified":9,"deleted":true}}}"#
    let (outcomes, requests) = try await push(
      [
        change("a", #"{ "v" : 1.50, "id":"x", "last_modified":5, "\u00e9":"\"" }"#),
        change("b b", #"{"last_modified":5}"#, on: 7), change("c", nil, on: 8),
      ],
      answered: batch(
        accepted.replacing("KEY", with: "a"), accepted.replacing("KEY", with: "b b"), deleted))
    #expect(outcomes.count == 3)
    let request = try #require(requests.first)
    #expect(request.method == "POST")
    #expect(request.address.description == "https://kinto.test/v1/batch")
    #expect(request.headers["Content-Type"] == "application/json")
    #expect(request.headers["Authorization"] == "Bearer secret")
    #expect(
      String(decoding: request.body, as: UTF8.self) == #"{"requests":["#
        + #"{"method":"PUT","path":"/buckets/b/collections/items/records/a","headers":{"If-None-Match":"*"},"body":{"data":{"v":1.50,"\u00e9":"\""}}},"#
        + #"{"method":"PUT","path":"/buckets/b/collections/items/records/b%20b","headers":{"If-Match":"\"7\""},"body":{"data":{}}},"#
        + #"{"method":"DELETE","path":"/buckets/b/collections/items/records/c","headers":{"If-Match":"\"8\""}}]}"#
    )
  }

  @Test(arguments: [
    (#"{"status":412,"body":{"details":{"existing":{"id":"a","last_modified":9,"v":1}}}}"#, "accepted"),
    (#"{"status":412,"body":{"details":{"existing":{"v":1.0,"id":"a","last_modified":9}}}}"#, "accepted"),
    (#"{"status":412,"body":{"details":{"existing":{"id":"a","last_modified":9,"v":2}}}}"#, "conflict"),
    (#"{"status":412,"body":{"details":{"existing":{"id":"a","last_modified":9}}}}"#, "conflict"),
    (#"{"status":412,"body":{}}"#, "nothing there"), (#"{"status":400,"body":{"errno":107}}"#, "refused"),
    (#"{"status":403}"#, "refused"), (#"{"status":404}"#, "refused"), (#"{"status":405}"#, "refused"),
    (#"{"status":413}"#, "refused"), (#"{"status":507}"#, "no room"),
    (#"{"status":503,"headers":{"Retry-After":"7"}}"#, "later 7.0 seconds"), (#"{"status":500}"#, "later"),
    (#"{"status":423,"headers":{"Retry-After":"7"}}"#, "later 7.0 seconds"), (#"{"status":425}"#, "later"),
    (#"{"status":304}"#, "in doubt"), (#"{"status":451}"#, "refused"),
  ])
  func eachStatusHasItsMeaning(_ answer: String, _ meaning: String) async throws {
    let outcome = try await push([change("a", on: 5)], answered: batch(answer)).outcomes.first
    let found =
      switch outcome {
      case .accepted, .moved: "accepted"
      case .conflict(.some): "conflict"
      case .conflict(nil): "nothing there"
      case .refused: "refused"
      case .unknown: "in doubt"
      case .quotaExceeded: "no room"
      case .notApplied: "not without its group"
      case .retryLater(let pause?): "later \(pause)"
      case .retryLater(nil): "later"
      case nil: "none"
      }
    #expect(found == meaning)
  }

  @Test(arguments: [
    ("9223372036854775808", "9223372036854775809"), ("0.10000000000000000001", "0.10000000000000000002"),
    ("1e400", "1e401"),
  ])
  func anotherNumberIsAnotherClients(_ ours: String, _ theirs: String) async throws {
    let existing =
      #"{"status":412,"body":{"details":{"existing":{"id":"a","last_modified":9,"v":\#(theirs)}}}}"#
    let edit = change("a", #"{"v":\#(ours)}"#, on: 5)
    let outcomes = try await push([edit], answered: batch(existing)).outcomes
    guard case .conflict(.upsert?) = outcomes.first else {
      Issue.record("\(outcomes)")
      return
    }
  }

  @Test(arguments: [
    (#"{"id":"a","v":1}"#, false), (#"{"id":"a","last_modified":9223372036854775807,"v":1}"#, false),
    (#"{"id":"a","last_modified":-9223372036854775808,"v":1}"#, false),
    (#"{"id":"a","last_modified":4,"v":1}"#, false), (#"{"id":"a","last_modified":0,"v":1}"#, false),
    (#"{"id":"b","last_modified":9,"v":1}"#, false), (#"{"id":"a","last_modified":9,"deleted":true}"#, false),
    (#"{"id":"a","last_modified":5,"v":1}"#, true),
    (#"{"id":"a","last_modified":9,"deleted":true,"v":1}"#, true), ("null", false), ("[]", false),
  ])
  func anEditLeavesForASoundAnswerAlone(_ data: String, _ isSound: Bool) async throws {
    let answer = batch(#"{"status":200,"body":{"data":\#(data)}}"#)
    let outcome = try? await push([change("a", on: 5)], answered: answer).outcomes.first
    #expect((outcome != nil) == isSound)
    if isSound {
      guard case .accepted(.upsert) = outcome else {
        Issue.record("\(String(describing: outcome))")
        return
      }
    }
  }

  @Test func aDeletionLeavesForATombstoneAlone() async throws {
    let record = batch(#"{"status":200,"body":{"data":{"id":"a","last_modified":9,"deleted":true,"v":1}}}"#)
    let error = await #expect(throws: SyncError.self) {
      try await push([change("a", nil, on: 5)], answered: record)
    }
    #expect(error?.code == .invalidResponse)
  }

  @Test func whatIsInTheWayIsReadAsStrictly() async throws {
    let absurd = #"{"id":"a","last_modified":9223372036854775807,"v":2}"#
    let error = await #expect(throws: SyncError.self) {
      try await push(
        [change("a", on: 5)], answered: batch(#"{"status":412,"body":{"details":{"existing":\#(absurd)}}}"#))
    }
    #expect(error?.code == .invalidResponse)
  }

  private static let root = HTTPResponse(
    status: 200, body: Array(#"{"settings":{"batch_max_requests":50}}"#.utf8))

  @Test func aServerThatFailsAtEditsAloneCanStillBeRead() async throws {
    let failure = HTTPResponse(status: 503, headers: ["Retry-After": "60"])
    let transport = ScriptedTransport(failure, Self.root, .page())
    let source = try KintoSource.over(transport)
    let error = await #expect(throws: SyncError.self) {
      try await KintoSink(source).push([change("a")], entities: SyncSchema(Entity("items")))
    }
    #expect(error?.code == .remoteUnavailable)
    #expect(error?.retryAfter == nil)
    _ = try await source.page()
    #expect(transport.requests.map(\.method) == ["POST", "GET", "GET"])
  }

  @Test func aServerThatFailsAtEverythingIsLeftAloneForAsLongAsItAsks() async throws {
    let failure = HTTPResponse(status: 503, headers: ["Retry-After": "60"])
    let transport = ScriptedTransport(failure, failure)
    let source = try KintoSource.over(transport)
    let error = await #expect(throws: SyncError.self) {
      try await KintoSink(source).push([change("a")], entities: SyncSchema(Entity("items")))
    }
    #expect(error?.retryAfter == .seconds(60))
    await #expect(throws: SyncError.self) { try await source.page() }
    #expect(transport.requests.count == 2)
  }

  @Test func aServerThatIsAskedTooOftenIsLeftAlone() async throws {
    let transport = ScriptedTransport(HTTPResponse(status: 429, headers: ["Retry-After": "60"]))
    let source = try KintoSource.over(transport)
    let error = await #expect(throws: SyncError.self) {
      try await KintoSink(source).push([change("a")], entities: SyncSchema(Entity("items")))
    }
    #expect(error?.retryAfter == .seconds(60))
    await #expect(throws: SyncError.self) { try await source.page() }
    #expect(transport.requests.count == 1)
  }

  @Test func aDeletionMadeOnNothingIsConditional() async throws {
    let existing = #"{"status":412,"body":{"details":{"existing":{"id":"a","last_modified":9,"v":1}}}}"#
    let (outcomes, requests) = try await push([change("a", nil)], answered: batch(existing))
    let sent = String(decoding: try #require(requests.first).body, as: UTF8.self)
    #expect(sent.contains(#""method":"DELETE""#) && sent.contains(#""If-None-Match":"*""#))
    guard case .conflict(.upsert?) = outcomes.first else {
      Issue.record("\(outcomes)")
      return
    }
  }

  @Test func whoDeletesWhatIsGoneIsToldSo() async throws {
    let outcome = try await push([change("a", nil, on: 5)], answered: batch(#"{"status":404}"#)).outcomes
    #expect(outcome == [.conflict(nil)])
  }

  @Test(arguments: [
    (HTTPResponse(status: 401), SyncError.Code.authentication),
    (HTTPResponse(status: 403), .permissionDenied),
    (HTTPResponse(status: 408), .remoteUnavailable), (HTTPResponse(status: 429), .remoteUnavailable),
    (HTTPResponse(status: 413), .batchTooLarge), (HTTPResponse(status: 400), .batchTooLarge),
    (HTTPResponse(status: 204), .invalidResponse), (HTTPResponse(status: 200), .invalidResponse),
    (HTTPResponse(status: 200, body: Array(#"{"responses":[{"status":200}]}"#.utf8)), .invalidResponse),
    (
      HTTPResponse(status: 200, body: Array(#"{"responses":[{"status":201},{"status":409}]}"#.utf8)),
      .remoteUnavailable
    ),
    (
      HTTPResponse(
        status: 200, body: Array(#"{"responses":[{"status":200,"body":{}},{"status":200}]}"#.utf8)),
      .invalidResponse
    ),
  ])
  func anAnswerToAllIsNoEditsOutcome(_ answer: HTTPResponse, _ code: SyncError.Code) async throws {
    let error = await #expect(throws: SyncError.self) {
      try await push([change("a"), change("b")], answered: answer)
    }
    #expect(error?.code == code)
    #expect(error?.description.contains("\"v\"") == false)
  }

  @Test(arguments: [
    (#"{"settings":{"batch_max_requests":50}}"#, 50), ("{}", 25), ("<html>", 25),
    (#"{"settings":{"batch_max_requests":0}}"#, 1), (#"{"settings":{"batch_max_requests":1e9}}"#, 25),
    (#"{"settings":{"batch_max_requests":9223372036854775807}}"#, 1000),
  ])
  func theLimitIsTheServersOwn(_ body: String, _ limit: Int) async throws {
    let transport = ScriptedTransport(HTTPResponse(status: 200, body: Array(body.utf8)))
    let sink = KintoSink(try KintoSource.over(transport))
    #expect(try await sink.limits().maximumRecords == limit)
    #expect(transport.requests.first?.address.description == "https://kinto.test/v1/")
  }
}
