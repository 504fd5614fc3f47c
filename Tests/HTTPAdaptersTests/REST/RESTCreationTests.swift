import CanonicalSyncTestServers
import HTTPAdapters
import SyncModels
import SyncPorts
import Testing

@Suite("A new record at a JSON API that gives it its key", .timeLimit(.minutes(10)))
struct RESTCreationTests {
  private static let made = #"{"id":17,"name":"A"}"#

  private static func answer(
    _ json: String, status: Int = 201, headers: HTTPHeaders = [:]
  ) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Array(json.utf8))
  }

  private static func push(
    _ members: String = "", isRepeated: Bool = false, isBundled: Bool = false,
    answered answers: HTTPResponse...
  ) async throws -> (outcome: PushOutcome?, requests: [HTTPRequest]) {
    let transport = ScriptedTransport(answers)
    let api =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","item":"items/{id}","push":{"create":"POST items"\#(members)}}}}"#
    let source = try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: transport)
    let change = OutgoingChange(
      id: RecordID(type: "items", key: "own-1"),
      content: .upsert(Payload(Array(#"{"id":"own-1","name":"A"}"#.utf8)), schemaVersion: 1), base: .none,
      key: IdempotencyKey("k"), stamp: EditStamp(physical: Timestamp(milliseconds: 1), replica: "test"),
      mayHaveArrived: isRepeated, isBundled: isBundled)
    let sink: any RemoteRecordSink = RESTSink(source)
    let limits = try await sink.limits()
    #expect(limits.maximumRecords == 1)
    let outcomes = try await sink.push([change], entities: SyncSchema(Entity("items")))
    #expect(transport.unread == 0)
    return (outcomes.first, transport.requests)
  }

  private static func key(_ outcome: PushOutcome?) -> String? {
    if case .moved(let record)? = outcome { record.id.key } else { nil }
  }

  private static let idempotency = #","idempotency":{"header":"Idempotency-Key"}"#
  private static let find = #","find":"items?external_id={key}""#

  @Test func isSentWithoutAKeyAndHasTheOneOfTheAnswer() async throws {
    let (outcome, requests) = try await Self.push(answered: Self.answer(Self.made))
    #expect(Self.key(outcome) == "17")
    #expect(requests.map(\.method) == ["POST"])
    #expect(requests.map { $0.address.description } == ["https://api.test/v1/items"])
    #expect(String(decoding: requests[0].body, as: UTF8.self) == #"{"name":"A"}"#)
  }

  @Test func isLookedAtWhereTheAnswerNamesItsPlace() async throws {
    let (outcome, requests) = try await Self.push(
      answered: Self.answer("", headers: ["Location": "/v1/items/17"]), Self.answer(Self.made, status: 200))
    #expect(Self.key(outcome) == "17")
    #expect(requests.map(\.method) == ["POST", "GET"])
  }

  /// Forms for people answer so, and so does a page to log in.
  @Test(arguments: [302, 303])
  func isLookedAtWhereItsAnswerIs(_ status: Int) async throws {
    let (outcome, requests) = try await Self.push(
      answered: HTTPResponse(status: status, headers: ["Location": "/v1/items/17"]),
      Self.answer(Self.made, status: 200))
    #expect(Self.key(outcome) == "17")
    #expect(requests.map(\.method) == ["POST", "GET"])
    let login = try await Self.push(
      answered: HTTPResponse(status: status, headers: ["Location": "/login"]))
    guard case .unknown? = login.outcome else { return #expect(login.outcome == nil) }
  }

  @Test(arguments: [301, 308])
  func isNotSentToAnotherAddress(_ status: Int) async throws {
    let (outcome, requests) = try await Self.push(
      answered: HTTPResponse(status: status, headers: ["Location": "/v2/items"]))
    #expect(
      outcome
        == .refused(
          reason: "The server answered \(status): it names another address, /v2/items, where no edit is sent."
        ))
    #expect(requests.count == 1)
  }

  /// A bundled record most likely has its key from the API.
  @Test func isNotMadeAgainWhereItCameWithTheApp() async throws {
    let there = #"{"id":"own-1","name":"B"}"#
    let (outcome, requests) = try await Self.push(isBundled: true, answered: Self.answer(there, status: 200))
    guard case .conflict(.upsert(let record)?) = outcome else { return #expect(outcome == nil) }
    #expect(record.payload == Payload(Array(there.utf8)))
    #expect(requests.map(\.method) == ["GET"])
    let new = try await Self.push(
      isBundled: true, answered: Self.answer("", status: 404), Self.answer(Self.made))
    #expect(Self.key(new.outcome) == "17")
    #expect(new.requests.map(\.method) == ["GET", "POST"])
  }

  @Test func isSentAgainUnderTheSameIdempotencyKey() async throws {
    let (outcome, requests) = try await Self.push(
      Self.idempotency, isRepeated: true, answered: Self.answer(Self.made))
    #expect(Self.key(outcome) == "17")
    #expect(requests.map { $0.headers["Idempotency-Key"] } == ["k"])
  }

  @Test func isLookedForBeforeItIsSentAgain() async throws {
    let (outcome, requests) = try await Self.push(
      Self.find, isRepeated: true, answered: Self.answer("[\(Self.made)]", status: 200))
    #expect(Self.key(outcome) == "17")
    #expect(requests.map { $0.address.description } == ["https://api.test/v1/items?external_id=own-1"])
    let (second, both) = try await Self.push(
      Self.find, isRepeated: true, answered: Self.answer("[]", status: 200), Self.answer(Self.made))
    #expect(Self.key(second) == "17")
    #expect(both.map(\.method) == ["GET", "POST"])
  }

  /// A job that will make the record has a key too.
  @Test func isNotTheJobThatAnAPIAnswersWith() async throws {
    let job = Self.answer(#"{"id":"job-9","status":"queued"}"#, status: 202)
    let (outcome, requests) = try await Self.push(answered: job, Self.answer("", status: 404))
    guard case .unknown(_?)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(requests.map(\.method) == ["POST", "GET"])
    let made = try await Self.push(
      answered: Self.answer(Self.made, status: 202), Self.answer(Self.made, status: 200))
    #expect(Self.key(made.outcome) == "17")
  }

  /// Most APIs answer with the whole record, and some with its key alone.
  @Test func isLookedAtWhereTheAnswerHasItsKeyAlone() async throws {
    let (outcome, requests) = try await Self.push(
      answered: Self.answer(#"{"id":17}"#), Self.answer(Self.made, status: 200))
    guard case .moved(let record)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(record.payload == Payload(Array(Self.made.utf8)))
    #expect(requests.map(\.method) == ["POST", "GET"])
  }

  /// An API that does not know the parameter shows all records.
  @Test func isNoOtherRecordThatASearchShows() async throws {
    let others = Self.answer(#"[{"id":3,"name":"Z"},{"id":4,"name":"Y"}]"#, status: 200)
    let (outcome, requests) = try await Self.push(Self.find, isRepeated: true, answered: others)
    guard case .unknown(let reason?)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(reason.contains("push.find"))
    #expect(requests.map(\.method) == ["GET"])
    // A search for words may show similar records first.
    let ours = #"[{"id":3,"external_id":"own-12"},{"id":17,"external_id":"own-1","name":"B"}]"#
    #expect(
      try await Self.key(
        Self.push(Self.find, isRepeated: true, answered: Self.answer(ours, status: 200)).outcome)
        == "17")
  }

  @Test func waitsForTheAppWhereAnotherAttemptMightMakeItTwice() async throws {
    let (outcome, requests) = try await Self.push(isRepeated: true)
    guard case .unknown(let reason?)? = outcome else { return #expect(outcome == nil) }
    #expect(reason.contains("answer"))
    #expect(requests.isEmpty)
  }

  @Test(arguments: [
    (500, "unknown"), (422, "refused"), (409, "refused"), (401, "later"), (429, "later"),
    (507, "no room"), (423, "later"), (425, "later"), (402, "refused"), (451, "refused"), (304, "unknown"),
  ])
  func isInDoubtOnlyIfItMayHaveBeenMade(_ status: Int, _ meaning: String) async throws {
    let outcome = try await Self.push(
      answered: Self.answer(#"{"message":"no"}"#, status: status)
    ).outcome
    let found =
      switch outcome {
      case .unknown: "unknown"
      case .refused(let reason): reason.contains(": no") ? "refused" : "refused without words"
      case .retryLater: "later"
      case .quotaExceeded: "no room"
      case .notApplied: "not without its group"
      default: "other"
      }
    #expect(found == meaning)
  }

  @Test func isTriedAgainByTheEngineWhereThatIsSafe() async throws {
    await #expect(throws: SyncError.self) {
      try await Self.push(Self.idempotency, answered: Self.answer("", status: 502))
    }
  }

  @Test(arguments: [
    (#""push":{"create":"POST items/{id}"}"#, "push.create contains {id}"),
    (#""push":{"create":"POST items","find":"items?x=1"}"#, "push.find lacks {key}"),
    (#""push":{"delete":"DELETE items/{id}"}"#, #"needs "write", "create" or both"#),
    (#""push":{"write":"PUT items/{id}","idempotency":{"header":"X"}}"#, "belong to \"create\""),
    (#""push":{"create":"POST items","idempotency":{"header":"a b"}}"#, "is not the name of a header"),
  ])
  func isDescribedWhole(_ members: String, _ complaint: String) throws {
    let api = #"{"base":"https://api.test/v1/","types":{"items":{"path":"items",\#(members)}}}"#
    let error = #expect(throws: SyncError.self) {
      _ = try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: ScriptedTransport([]))
    }
    #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
  }
}
