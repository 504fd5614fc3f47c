import CanonicalSyncTestServers
import HTTPAdapters
import SyncModels
import SyncPorts
import Synchronization
import Testing

@Suite("The meaning of a JSON API's answers to edits", .timeLimit(.minutes(10)))
struct RESTSinkTests {
  private static let id = RecordID(type: "items", key: "a")
  private static let stored = #"{"id":"a","name":"A","nickname":"B","home":{"city":"C","street":"D"}}"#

  private static func answer(_ json: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, body: Array(json.utf8))
  }

  private static func payload(_ json: String) -> Payload { Payload(Array(json.utf8)) }

  /// Pushes one edit, or a deletion.
  private static func push(
    _ json: String?, on base: String = stored, write: String = "PUT", answered answers: HTTPResponse...
  ) async throws -> (outcome: PushOutcome?, requests: [HTTPRequest]) {
    try await push(json, on: base, write: write, answeredBy: answers)
  }

  private static func push(
    _ json: String?, on base: String = stored, write: String = "PUT", answeredBy answers: [HTTPResponse],
    again: Bool = false, further: String = "", of type: String = "",
    at version: Version = Version(modifiedAt: Timestamp(microseconds: 0))
  ) async throws -> (outcome: PushOutcome?, requests: [HTTPRequest]) {
    let transport = ScriptedTransport(answers)
    let api =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items"\#(type),"push":{"write":"\#(write) items/{id}","delete":"DELETE items/{id}"\#(further)}}}}"#
    let source = try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: transport)
    let record = Record(id: id, version: version, payload: payload(base), fields: [])
    let change = OutgoingChange(
      id: id, content: json.map { .upsert(payload($0), schemaVersion: 1) } ?? .deletion,
      base: .copy(record), key: IdempotencyKey("a"),
      stamp: EditStamp(physical: Timestamp(milliseconds: 1), replica: "test"), mayHaveArrived: again)
    let outcomes = try await RESTSink(source).push([change], entities: SyncSchema(Entity("items")))
    #expect(transport.unread == 0)
    return (outcomes.first, transport.requests)
  }

  private static func accepted(_ outcome: PushOutcome?) -> String? {
    guard case .accepted(.upsert(let record))? = outcome else { return nil }
    return String(decoding: record.payload.bytes, as: UTF8.self)
  }

  private static func conflicting(_ outcome: PushOutcome?) -> String? {
    guard case .conflict(.upsert(let record)?)? = outcome else { return nil }
    return String(decoding: record.payload.bytes, as: UTF8.self)
  }

  // MARK: Removed members

  @Test(arguments: [
    #"{"id":"a","name":"A","home":{"city":"C","street":"D"}}"#,
    #"{"id":"a","name":"A","nickname":"B","home":{"city":"C"}}"#, #"{"id":"a"}"#,
  ])
  func anEditThatOnlyRemovesMembersIsSent(_ edit: String) async throws {
    let (outcome, requests) = try await Self.push(
      edit, answered: Self.answer(Self.stored), Self.answer(edit))
    #expect(requests.map(\.method) == ["GET", "PUT"])
    #expect(Self.accepted(outcome) == edit)
  }

  @Test(arguments: [
    #"{"id":"a","home":{"city":"C"},"url":"/a"}"#, #"{"id":"a","nickname":null,"home":{"city":"C","zip":7}}"#,
  ])
  func aRemovalThatIsThereIsNotSentAgain(_ theirs: String) async throws {
    let (outcome, requests) = try await Self.push(
      #"{"id":"a","name":null,"home":{"city":"C"}}"#, answered: Self.answer(theirs))
    #expect(requests.map(\.method) == ["GET"])
    #expect(Self.accepted(outcome) == theirs)
  }

  @Test(arguments: [409, 412])
  func aRefusedRemovalIsNotThere(_ status: Int) async throws {
    let theirs = Self.stored.replacing("B", with: "other")
    let (outcome, requests) = try await Self.push(
      #"{"id":"a","name":"A","home":{"city":"C","street":"D"}}"#, answered: Self.answer(Self.stored),
      Self.answer("", status: status), Self.answer(theirs))
    #expect(requests.map(\.method) == ["GET", "PUT", "GET"])
    #expect(Self.conflicting(outcome) == theirs)
  }

  /// An API that writes the member itself would otherwise be in conflict for ever.
  @Test func anAcceptedRemovalHasTheApisAnswer() async throws {
    let (outcome, _) = try await Self.push(
      #"{"id":"a","name":"A","home":{"city":"C","street":"D"}}"#, answered: Self.answer(Self.stored),
      Self.answer("", status: 204), Self.answer(Self.stored))
    #expect(Self.accepted(outcome) == Self.stored)
  }

  @Test(arguments: [
    (
      #"{"id":"a","name":"E","home":{"city":"C","street":"D"}}"#,
      #"{"name":"E","nickname":null,"id":"a"}"#
    ),
    (
      #"{"name":"A","nickname":"B","home":{"city":"F"}}"#,
      #"{"home":{"city":"F","street":null},"id":"a"}"#
    ),
    (#"{"id":"a","home":7}"#, #"{"home":7,"name":null,"nickname":null,"id":"a"}"#),
  ])
  func aPatchRemovesMembersByNull(_ edit: String, _ body: String) async throws {
    let (_, requests) = try await Self.push(
      edit, write: "PATCH", answered: Self.answer(Self.stored),
      Self.answer(#"{"id":"a",\#(edit.dropFirst())"#))
    #expect(requests.map(\.method) == ["GET", "PATCH"])
    #expect(requests.last.map { String(decoding: $0.body, as: UTF8.self) } == body)
  }

  /// Some servers replace the objects in a record, and do not merge them.
  @Test(arguments: [
    ("", #"{"home":{"city":"F","floor":null},"id":"a"}"#),
    (
      #","replacesObjects":true"#,
      #"{"home":{"city":"F","at":{"x":1,"y":2},"floor":null,"zip":"Z"},"id":"a"}"#
    ),
  ])
  func aPatchSendsObjectsAsTheAPITakesThem(_ further: String, _ body: String) async throws {
    let (_, requests) = try await Self.push(
      #"{"id":"a","name":"A","home":{"city":"F","at":{"x":1}}}"#,
      on: #"{"id":"a","name":"A","home":{"city":"C","at":{"x":1},"floor":2}}"#, write: "PATCH",
      answeredBy: [
        Self.answer(
          #"{"id":"a","name":"A","home":{"city":"C","at":{"x":1,"y":2},"floor":2,"zip":"Z"}}"#),
        Self.answer(#"{"id":"a","name":"A","home":{"city":"F","at":{"x":1,"y":2},"zip":"Z"}}"#),
      ], further: further)
    #expect(requests.last.map { String(decoding: $0.body, as: UTF8.self) } == body)
  }

  /// A list shows less of a record than there is.
  @Test(arguments: [
    ("PATCH", #"{"name":"E","id":"a"}"#),
    ("PUT", #"{"id":"a","name":"E","bio":"x","home":{"city":"C","zip":"Z"}}"#),
  ])
  func whatTheListHasNotShownStays(_ method: String, _ body: String) async throws {
    let (_, requests) = try await Self.push(
      #"{"id":"a","name":"E","home":{"city":"C"}}"#, on: #"{"id":"a","name":"A","home":{"city":"C"}}"#,
      write: method,
      answered: Self.answer(#"{"id":"a","name":"A","bio":"x","home":{"city":"C","zip":"Z"}}"#),
      Self.answer(#"{"id":"a","name":"E","bio":"x","home":{"city":"C","zip":"Z"}}"#))
    #expect(requests.last.map { String(decoding: $0.body, as: UTF8.self) } == body)
  }

  /// A server that stores another form than it was sent has accepted it.
  @Test(arguments: [204, 200])
  func anotherFormThatTheServerStoresIsTheAnswer(_ status: Int) async throws {
    let stored = #"{"id":"a","name":"Bob"}"#
    let (outcome, requests) = try await Self.push(
      #"{"id":"a","name":"Bob "}"#, on: #"{"id":"a","name":"A"}"#,
      answered: Self.answer(#"{"id":"a","name":"A"}"#), Self.answer(#""ok""#, status: status),
      Self.answer(stored))
    #expect(requests.map(\.method) == ["GET", "PUT", "GET"])
    #expect(Self.accepted(outcome) == stored)
  }

  /// A server that does its work later, answers from an older copy, or ignores the member: the edit must not
  /// be over while the record is as it was.
  @Test(
    arguments: [#"{"id":"a","name":"E","nickname":"B","home":{"city":"C","street":"D"}}"#, nil],
    [200, 202, 204, 304])
  func anAcceptedEditWithoutEffectIsNotOver(_ edit: String?, _ status: Int) async throws {
    let answers = [Self.answer(Self.stored), Self.answer("", status: status), Self.answer(Self.stored)]
    #expect(try await Self.push(edit, answeredBy: answers).outcome == .unknown(reason: nil))
    guard case .refused(let reason)? = try await Self.push(edit, answeredBy: answers, again: true).outcome
    else {
      Issue.record("It is not refused.")
      return
    }
    #expect(reason.contains("\(status)") && reason.contains("unchanged"))
  }

  /// An API that ignores what it does not take, and answers with the record as it is.
  @Test func anAnswerThatShowsTheRecordUnchangedIsNoSuccess() async throws {
    let edit = Self.stored.replacing("A", with: "E")
    let answers = [Self.answer(Self.stored), Self.answer(Self.stored), Self.answer(Self.stored)]
    #expect(try await Self.push(edit, answeredBy: answers).outcome == .unknown(reason: nil))
    // Another version shows that it has done its work.
    let (outcome, requests) = try await Self.patch(
      "E",
      answered: [Self.answer(#"{"id":"a","name":"A","v":2}"#), Self.answer(#"{"id":"a","name":"A","v":2}"#)])
    #expect(requests.map(\.method) == ["PATCH", "GET"])
    #expect(
      outcome == .refused(reason: "The server answered 200, and has left what the edit changes as it was."))
  }

  /// An API that answers with the key alone, or with the members that it has written.
  @Test(arguments: [#"{"id":"a"}"#, #"{"id":"a","name":"E"}"#])
  func aPartOfARecordIsNotTheRecord(_ part: String) async throws {
    let edit = Self.stored.replacing("A", with: "E")
    let (outcome, requests) = try await Self.push(
      edit, answered: Self.answer(Self.stored), Self.answer(part), Self.answer(edit))
    #expect(requests.map(\.method) == ["GET", "PUT", "GET"])
    #expect(Self.accepted(outcome) == edit)
  }

  /// An echo of what was sent has no version, and the next edit would take the record for another state.
  @Test func anAnswerWithoutAVersionIsNotTheRecord() async throws {
    let (base, whole) = (#"{"id":"a","name":"A","v":1}"#, #"{"id":"a","name":"E","v":2}"#)
    let (outcome, _) = try await Self.push(
      #"{"id":"a","name":"E","v":1}"#, on: base,
      answeredBy: [base, #"{"id":"a","name":"E"}"#, whole].map { Self.answer($0) }, of: #","version":"/v""#,
      at: Version(sequence: 1, modifiedAt: Timestamp(microseconds: 0)))
    #expect(Self.accepted(outcome) == whole)
  }

  /// The key of some records is their name.
  @Test func aRecordThatGetsAnotherKeyByAnEditHasMoved() async throws {
    let renamed = #"{"id":"b","name":"B","nickname":"B","home":{"city":"C","street":"D"}}"#
    let (outcome, requests) = try await Self.push(
      Self.stored.replacing("\"A\"", with: "\"B\""), answered: Self.answer(Self.stored), Self.answer(renamed),
      Self.answer("", status: 404))
    #expect(requests.map(\.method) == ["GET", "PUT", "GET"])
    guard case .moved(let record)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(record.payload == Self.payload(renamed))
  }

  /// Some APIs answer 404 to those who may not delete a record, or for a path that they do not know.
  @Test func aDeletionThatFindsNothingWhereARecordIsIsNoSuccess() async throws {
    let missing = Self.answer(#"{"message":"Not Found"}"#, status: 404)
    let (outcome, requests) = try await Self.push(
      nil, answered: Self.answer(Self.stored), missing, Self.answer(Self.stored))
    #expect(requests.map(\.method) == ["GET", "DELETE", "GET"])
    #expect(
      outcome
        == .refused(
          reason:
            "The server answered 404: the API shows this record, and takes no writes of it: Not Found."))
    let gone = try await Self.push(nil, answered: Self.answer(Self.stored), missing, missing)
    guard case .accepted(.tombstone)? = gone.outcome else {
      Issue.record("\(String(describing: gone.outcome))")
      return
    }
  }

  /// A proxy answers with a page for people while the API is away, and some APIs where a record is gone.
  @Test(arguments: [nil, stored.replacing("A", with: "E")])
  func aPageForPeopleIsNoDeletionWhereTheListIsAwayToo(_ edit: String?) async throws {
    let page = HTTPResponse(
      status: 404, headers: ["Content-Type": "text/html"], body: Array("<h1>No such site</h1>".utf8))
    await #expect {
      _ = try await Self.push(edit, answered: page, page)
    } throws: { error in
      let error = error as? SyncError
      return error?.code == .remoteUnavailable && error?.message.contains("No such site") == true
    }
    let answers = [page, Self.answer("[]")]
    let (outcome, requests) = try await Self.push(
      edit, answeredBy: edit == nil ? answers + [Self.answer("", status: 404), Self.answer("[]")] : answers)
    #expect(requests.map(\.address.path).prefix(2) == ["/v1/items/a", "/v1/items"])
    switch outcome {
    case .accepted(.tombstone)?: #expect(edit == nil)
    case .conflict(nil)?: #expect(edit != nil)
    default: Issue.record("\(String(describing: outcome))")
    }
  }

  /// The copy of a server that answers reads may be late, and not have a new record yet.
  @Test(arguments: [204, 404, 400], [true, false])
  func aDeletionIsSentAlsoWhereALookFindsNothing(_ status: Int, again: Bool) async throws {
    let missing = Self.answer(#"{"message":"Not Found"}"#, status: 404)
    let after = [204: [missing], 404: [Self.answer("[]")]][status] ?? []
    let (outcome, requests) = try await Self.push(
      nil, answeredBy: [missing, Self.answer("", status: status)] + after, again: again)
    #expect(requests.map(\.method).prefix(2) == ["GET", "DELETE"])
    guard case .accepted(.tombstone)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
  }

  /// A gateway answers 404 to everything while the API behind it is away.
  @Test(arguments: [true, false])
  func aDeletionIsNotDoneWhereTheListIsAwayToo(again: Bool) async throws {
    let missing = Self.answer(#"{"message":"no Route matched with those values"}"#, status: 404)
    await #expect {
      _ = try await Self.push(nil, answeredBy: [missing, missing, missing], again: again)
    } throws: {
      ($0 as? SyncError)?.code == .remoteUnavailable
    }
  }

  /// An API that keeps what is deleted in another state, which it may list or not.
  @Test func aDeletionHidesNoStateThatIsThereAfterIt() async throws {
    func at(_ second: Int) -> String { "2026-04-01T18:00:0\(second)Z" }
    func item(_ status: String, _ second: Int) -> String {
      #"{"id":"a","status":"\#(status)","at":"\#(at(second))"}"#
    }
    let version = Version(modifiedAt: try #require(Timestamp(iso8601: at(1))))
    let answers = [
      Self.answer(item("open", 1)),
      HTTPResponse(status: 204, headers: ["Date": "Wed, 01 Apr 2026 18:00:09 GMT"]),
      Self.answer(item("archived", 5)),
    ]
    let (outcome, _) = try await Self.push(
      nil, on: item("open", 1), answeredBy: answers, of: #","version":"/at""#, at: version)
    guard case .accepted(.tombstone(let tombstone))? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(tombstone.version > version)
    #expect(try tombstone.version.modifiedAt < #require(Timestamp(iso8601: at(5))))
  }

  /// Without a path of single records, nothing tells whether the record is still there.
  @Test func aDeletionIsSentWhereNoRecordCanBeLookedAt() async throws {
    let transport = ScriptedTransport(Self.answer("", status: 204))
    let api =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","push":{"create":"POST items","delete":"DELETE items/{id}"}}}}"#
    let sink = RESTSink(
      try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: transport))
    let base = Record(id: Self.id, version: .undated, payload: Self.payload(Self.stored), fields: [])
    let change = OutgoingChange(
      id: Self.id, content: .deletion, base: .copy(base), key: IdempotencyKey("a"),
      stamp: EditStamp(physical: Timestamp(milliseconds: 1), replica: "test"))
    let outcome = try await sink.push([change], entities: SyncSchema(Entity("items"))).first
    #expect(transport.requests.map(\.method) == ["DELETE"])
    guard case .accepted(.tombstone)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
  }

  /// A cache on the way may have an older copy.
  @Test func aLookIsAtTheServersOwnCopy() async throws {
    let edit = Self.stored.replacing("A", with: "E")
    let (_, requests) = try await Self.push(edit, answered: Self.answer(Self.stored), Self.answer(edit))
    #expect(requests.first?.headers["Cache-Control"] == "no-cache")
  }

  /// A lock that another one holds, and a server that will not take the risk of a repeated request.
  @Test(arguments: [423, 425])
  func whatHoldsForAMomentIsNoRefusal(_ status: Int) async throws {
    let busy = HTTPResponse(status: status, headers: ["Retry-After": "7"])
    let (outcome, _) = try await Self.push(
      #"{"id":"a","name":"E"}"#, answered: Self.answer(Self.stored), busy)
    #expect(outcome == .retryLater(after: .seconds(7)))
  }

  /// A 304 tells nothing of the effect of a write.
  @Test func anEditThatWasAnsweredAsUnchangedIsLookedFor() async throws {
    let edit = Self.stored.replacing("A", with: "E")
    let unchanged = HTTPResponse(status: 304)
    let (outcome, requests) = try await Self.push(
      edit, answered: Self.answer(Self.stored), unchanged, Self.answer(edit))
    #expect(requests.map(\.method) == ["GET", "PUT", "GET"] && Self.accepted(outcome) == edit)
    let theirs = Self.stored.replacing("A", with: "T")
    let other = try await Self.push(edit, answered: Self.answer(Self.stored), unchanged, Self.answer(theirs))
    #expect(Self.conflicting(other.outcome) == theirs)
  }

  /// A rule of the API that the edit breaks: the record is as it was.
  @Test(arguments: [
    (409, "the API does not allow this"), (404, "the API shows this record, and takes no writes of it"),
    (422, "the server does not accept the record, or its id"),
    (403, "these credentials may not write items"), (402, "it has to be paid for first"),
    (451, "it is denied for legal reasons"),
  ])
  func aRefusalIsToldWithTheServersWords(_ status: Int, _ meaning: String) async throws {
    let refused = Self.answer(#"{"error":{"message":"the season is closed"}}"#, status: status)
    let answers = [Self.answer(Self.stored), refused] + (status == 409 ? [Self.answer(Self.stored)] : [])
    let (outcome, requests) = try await Self.push(#"{"id":"a","name":"E"}"#, answeredBy: answers)
    #expect(requests.count == answers.count)
    #expect(
      outcome == .refused(reason: "The server answered \(status): \(meaning): the season is closed."))
  }

  // MARK: The version as the precondition

  /// Pushes one edit of a name, by a PATCH that carries the base's version.
  private static func patch(
    _ name: String, mayHaveArrived: Bool = false, answered answers: [HTTPResponse]
  ) async throws -> (outcome: PushOutcome?, requests: [HTTPRequest]) {
    let transport = ScriptedTransport(answers)
    let api =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","version":"/v","push":{"write":"PATCH items/{id}","precondition":"version"}}}}"#
    let sink = RESTSink(
      try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: transport))
    let base = Record(
      id: id, version: Version(sequence: 1, modifiedAt: Timestamp(microseconds: 0)),
      payload: payload(#"{"id":"a","name":"A","v":1}"#), fields: [])
    let change = OutgoingChange(
      id: id, content: .upsert(payload(#"{"id":"a","name":"\#(name)","v":1}"#), schemaVersion: 1),
      base: .copy(base), key: IdempotencyKey("a"),
      stamp: EditStamp(physical: Timestamp(milliseconds: 1), replica: "test"),
      mayHaveArrived: mayHaveArrived)
    let outcomes = try await sink.push([change], entities: SyncSchema(Entity("items")))
    #expect(transport.unread == 0)
    return (outcomes.first, transport.requests)
  }

  @Test func aComparedVersionNeedsNoLook() async throws {
    let edited = #"{"id":"a","name":"E","v":2}"#
    let (outcome, requests) = try await Self.patch("E", answered: [Self.answer(edited)])
    #expect(requests.map(\.method) == ["PATCH"] && Self.accepted(outcome) == edited)
    #expect(
      requests.first.map { String(decoding: $0.body, as: UTF8.self) } == #"{"name":"E","id":"a","v":1}"#)
  }

  @Test(arguments: [404, 409, 412])
  func aLookTellsWhyAComparedVersionWasRefused(_ status: Int) async throws {
    let refused = Self.answer(#"{"message":"no"}"#, status: status)
    let theirs = #"{"id":"a","name":"T","v":2}"#
    let conflict = try await Self.patch("E", answered: [refused, Self.answer(theirs)])
    #expect(conflict.requests.map(\.method) == ["PATCH", "GET"])
    #expect(Self.conflicting(conflict.outcome) == theirs)
    // Another client has made the same edit, or an earlier attempt arrived.
    let same = #"{"id":"a","name":"E","v":2}"#
    #expect(try await Self.accepted(Self.patch("E", answered: [refused, Self.answer(same)]).outcome) == same)
    let gone = try await Self.patch("E", answered: [refused, Self.answer("", status: 404)])
    #expect(gone.outcome == .conflict(nil))
  }

  @Test func anEditThatMayHaveArrivedIsLookedForFirst() async throws {
    let same = #"{"id":"a","name":"E","v":2}"#
    let (outcome, requests) = try await Self.patch("E", mayHaveArrived: true, answered: [Self.answer(same)])
    #expect(requests.map(\.method) == ["GET"] && Self.accepted(outcome) == same)
  }

  // MARK: Values

  @Test(arguments: [
    ("9223372036854775808", "9223372036854775809", false), ("0.1000000000000000000", "0.1", true),
    ("0.10000000000000000001", "0.10000000000000000002", false), ("1e400", "1e401", false),
    ("1.50", "15e-1", true), ("[100]", "[1e2]", true), ("\"\\u00e9\"", "\"é\"", true), ("\"1\"", "1", false),
  ])
  func numbersCompareByTheirExactValue(_ theirs: String, _ ours: String, isSame: Bool) async throws {
    let outcome = try await Self.push(
      #"{"id":"a","v":\#(ours)}"#, on: #"{"id":"a","v":0}"#,
      answered: Self.answer(#"{"id":"a","v":\#(theirs)}"#)
    ).outcome
    #expect((Self.accepted(outcome) != nil) == isSame)
    #expect((Self.conflicting(outcome) != nil) == !isSame)
  }

  @Test(arguments: ["{}", nil])
  func aMalformedRecordIsInTheWay(_ edit: String?) async throws {
    let (outcome, requests) = try await Self.push(edit, answered: Self.answer("[]"))
    #expect(requests.map(\.method) == ["GET"])
    guard case .conflict(.malformed(let malformed)?)? = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(malformed.id == Self.id)
  }

  // MARK: Answers elsewhere

  private static let elsewhere = HTTPResponse(status: 303, headers: ["Location": "/v1/results/7"])

  @Test func anAnswerElsewhereIsNotSentTheEdit() async throws {
    let edit = Self.stored.replacing("A", with: "E")
    let (outcome, requests) = try await Self.push(
      edit, answered: Self.answer(Self.stored), Self.elsewhere, Self.answer(edit))
    #expect(requests.map(\.method) == ["GET", "PUT", "GET"])
    #expect(requests.last?.address.path == "/v1/items/a")
    #expect(requests.last?.body == [])
    #expect(Self.accepted(outcome) == edit)
  }

  @Test func anAnswerElsewhereIsNoSuccess() async throws {
    let gone = try await Self.push(
      nil, answered: Self.answer(Self.stored), Self.elsewhere, Self.answer("", status: 404))
    guard case .accepted(.tombstone)? = gone.outcome else {
      Issue.record("\(String(describing: gone.outcome))")
      return
    }
    let kept = try await Self.push(
      nil, answered: Self.answer(Self.stored), Self.elsewhere, Self.answer(Self.stored))
    #expect(kept.outcome == .retryLater(after: nil))
    #expect(kept.requests.map(\.method) == ["GET", "DELETE", "GET"])
  }

  /// A record that has moved: the other address may be another record's.
  @Test(arguments: [301, 302, 308])
  func noEditFollowsARecordThatHasMoved(_ status: Int) async throws {
    let moved = HTTPResponse(status: status, headers: ["Location": "/v1/items/b"])
    for edit in [Self.stored.replacing("A", with: "E"), nil] {
      let (outcome, requests) = try await Self.push(edit, answered: Self.answer(Self.stored), moved)
      #expect(requests.map(\.address.path) == ["/v1/items/a", "/v1/items/a"])
      #expect(
        outcome
          == .refused(
            reason:
              "The server answered \(status): it names another address, /v1/items/b, where no edit is sent."))
    }
  }

  @Test func anEditGoesWhereItIsSentForTheTime() async throws {
    let edit = Self.stored.replacing("A", with: "E")
    let (outcome, requests) = try await Self.push(
      edit, answered: Self.answer(Self.stored),
      HTTPResponse(status: 307, headers: ["Location": "/v1/writer/items/a"]), Self.answer(edit))
    #expect(requests.map(\.method) == ["GET", "PUT", "PUT"])
    #expect(requests[1].body == requests[2].body && Self.accepted(outcome) == edit)
  }

  // MARK: Members of a description

  @Test func aRecordIsWrappedAndTheReasonOfARefusalIsWhereTheDescriptionSays() async throws {
    let transport = ScriptedTransport(
      Self.answer(#"{"product":{"id":7,"title":"A"}}"#),
      Self.answer(#"{"errors":{"title":["is taken","is short"]},"message":"Unprocessable"}"#, status: 422),
      Self.answer(#"{"product":{"id":7,"title":"A"}}"#), Self.answer(#"{"product":{"id":7,"title":"F"}}"#))
    let api =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"p","records":"/products","item":{"path":"p/{id}","record":"/product"},"push":{"write":"PUT p/{id}","body":"/product","reason":"/errors/title"}}}}"#
    let sink = RESTSink(
      try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: transport))
    func push(_ title: String) async throws -> PushOutcome? {
      let base = Record(
        id: RecordID(type: "items", key: "7"), version: .undated,
        payload: Self.payload(#"{"id":7,"title":"A"}"#),
        fields: [])
      let change = OutgoingChange(
        id: base.id, content: .upsert(Self.payload(#"{"id":7,"title":"\#(title)"}"#), schemaVersion: 1),
        base: .copy(base), key: IdempotencyKey("a"),
        stamp: EditStamp(physical: Timestamp(milliseconds: 1), replica: "test"))
      return try await sink.push([change], entities: SyncSchema(Entity("items"))).first
    }
    #expect(
      try await push("E")
        == .refused(
          reason:
            #"The server answered 422: the server does not accept the record, or its id: ["is taken","is short"]."#
        ))
    #expect(try await Self.accepted(push("F")) == #"{"id":7,"title":"F"}"#)
    #expect(
      transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
        "", #"{"product":{"id":7,"title":"E"}}"#, "", #"{"product":{"id":7,"title":"F"}}"#,
      ])
  }

  // MARK: Side by side

  /// An API without records, which waits for other writes before it answers one.
  private final class CrowdedTransport: HTTPTransport {
    let counts = Mutex((now: 0, most: 0, sent: 0))
    let failing: String

    init(failing: String) { self.failing = failing }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      guard request.method == "PUT" else { return HTTPResponse(status: 404) }
      counts.withLock { ($0.now, $0.most, $0.sent) = ($0.now + 1, max($0.most, $0.now + 1), $0.sent + 1) }
      if request.address.path.hasSuffix(failing) {
        throw SyncError(.remoteUnavailable, during: "sending", "The connection broke.")
      }
      for _ in 0..<2000 where counts.withLock({ $0.most < 8 }) { await Task.yield() }
      counts.withLock { $0.now -= 1 }
      return HTTPResponse(status: 200, body: request.body)
    }
  }

  private static func pushMany(
    _ entity: Entity, atOnce: String = "", failing: String = "-"
  ) async throws -> (outcomes: [PushOutcome], most: Int) {
    let transport = CrowdedTransport(failing: failing)
    let api =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","push":{"write":"PUT items/{id}"\#(atOnce)}}}}"#
    let source = try RESTSource(RESTAPI(json: Array(api.utf8), named: "api.json"), transport: transport)
    let changes = (1...20).map { number in
      OutgoingChange(
        id: RecordID(type: "items", key: "i\(number)"),
        content: .upsert(payload(#"{"id":"i\#(number)"}"#), schemaVersion: 1), base: .none,
        key: IdempotencyKey("\(number)"),
        stamp: EditStamp(physical: Timestamp(milliseconds: Int64(number)), replica: "test"))
    }
    let outcomes = try await RESTSink(source).push(changes, entities: SyncSchema(entity))
    return (outcomes, transport.counts.withLock { $0.most })
  }

  @Test func editsAreSentEightAtATime() async throws {
    let (outcomes, most) = try await Self.pushMany(Entity("items"))
    #expect(most == 8 && outcomes.map { Self.accepted($0) } == (1...20).map { #"{"id":"i\#($0)"}"# })
    #expect(try await Self.pushMany(Entity("items"), atOnce: #","atOnce":1"#).most == 1)
    #expect(try await Self.pushMany(Entity("items"), atOnce: #","atOnce":3"#).most == 3)
    // One may refer to another.
    let circle = Entity("items", references: [.to("items", by: "parent")])
    #expect(try await Self.pushMany(circle).most == 1)
    #expect(throws: SyncError.self) {
      try RESTAPI(
        json: Array(
          #"{"base":"https://a.test","types":{"items":{"path":"i","push":{"write":"PUT i/{id}","atOnce":0}}}}"#
            .utf8), named: "api.json")
    }
  }

  @Test func aFailureLeavesTheRestForLater() async throws {
    let (outcomes, _) = try await Self.pushMany(Entity("items"), failing: "/i3")
    #expect(outcomes.count == 20)
    #expect(outcomes.prefix(8).map { Self.accepted($0) != nil } == (1...8).map { $0 != 3 })
    #expect(outcomes[2] == .retryLater(after: nil))
    #expect(outcomes.dropFirst(8).allSatisfy { $0 == .retryLater(after: nil) })
  }
}
