import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncConformance
import Synchronization
import Testing

@Suite("The guide to writing a source", .timeLimit(.minutes(10)))
struct SourceExampleTests {
  @Test(arguments: SourceCheck.allCases)
  func mySourceConforms(_ check: SourceCheck) async throws {
    let server = NoteServer()
    var harness = SourceHarness(
      source: ChangeSource(server: server, identity: "notes"),
      upsert: { key, value in server.write(key, #""value":\#(value)"#) },
      delete: { key in server.write(key, #""deleted":true"#) })
    harness.reopen = { ChangeSource(server: server, identity: "notes") }
    harness.settle = { server.advance(60_000) }
    // A record without its key: a JSON array has no cut elements.
    harness.malformedBytes = Array(#"{"value":5}"#.utf8)
    harness.putMalformed = { server.put($0) }
    harness.beginUpsert = { key, value in server.begin(key, #""value":\#(value)"#) }
    if case .skipped(let reason) = try await check.run(on: harness) { try Test.cancel("\(reason)") }
  }

  @Test(arguments: SinkCheck.allCases)
  func mySinkConforms(_ check: SinkCheck) async throws {
    let server = NoteServer()
    let source = ChangeSource(server: server, identity: "notes")
    var harness = SinkHarness(
      sink: ChangeSink(server: server, identity: "notes"),
      upsert: { key, value in server.write(key, #""value":\#(value)"#) },
      delete: { key in server.write(key, #""deleted":true"#) },
      read: { key in
        let start = PageRequest(
          entity: SinkHarness.entity, position: .start(since: nil), limit: 10_000, pass: 1)
        return try await source.page(start).changes.first { $0.id?.key == key }
      })
    harness.reopen = { ChangeSink(server: server, identity: "notes") }
    harness.serverManagedFields = source.capabilities.serverManagedFields
    if case .skipped(let reason) = try await check.run(on: harness) { try Test.cancel("\(reason)") }
  }

  private struct Note: SyncedRecord, Codable {
    static let recordType: RecordType = "notes"
    var value: Int
  }

  @Test func showsASinkThatPushesOnceWhenAnAnswerIsLost() async throws {
    let server = NoteServer()
    server.write("r1", #""value":1"#)
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("notes")), store: InMemoryStore(),
      source: ChangeSource(server: server, identity: "notes"),
      sink: ChangeSink(server: server, identity: "notes"))
    _ = try await engine.sync()
    var note = try #require(try await engine.records.find(Note.self, key: "r1"))
    note.value.value = 2
    try await engine.edits.upsert(note)
    server.loseAnswer()
    _ = try await engine.sync()
    let result = try await engine.sync()
    #expect(try await engine.edits.pending("notes").isEmpty)
    #expect(result["notes"].conflicts == 0)
    #expect(server.writes == 2)
  }

  /// Each of these is a source that the guide warns of.
  @Test(arguments: BrokenSource.Flaw.allCases)
  func theChecksDetectTheUsualMistakes(_ flaw: BrokenSource.Flaw) async throws {
    let server = NoteServer()
    var harness = SourceHarness(
      source: BrokenSource(flaw: flaw, base: ChangeSource(server: server, identity: "notes")),
      upsert: { key, value in server.write(key, #""value":\#(value)"#) },
      delete: { key in server.write(key, #""deleted":true"#) })
    harness.malformedBytes = Array(#"{"value":5}"#.utf8)
    harness.putMalformed = { server.put($0) }
    let broken = harness
    await #expect(throws: ConformanceFailure.self) { try await flaw.check.run(on: broken) }
  }

  @Test func startsOverAtATokenThatMeansNothing() async throws {
    let source = ChangeSource(server: NoteServer(), identity: "example")
    for (position, reason) in [
      (PullPosition.start(since: SyncToken("x")), ResetReason.tokenExpired),
      (.resume(PageToken("1")), .pageTokenExpired), (.resume(PageToken("x 1")), .pageTokenExpired),
    ] {
      let page = try await source.page(
        PageRequest(entity: Entity("notes"), position: position, limit: 2, pass: 1))
      #expect(page.next == .reset(reason))
    }
  }

  @Test func showsASourceThatSyncs() async throws {
    let server = NoteServer()
    for number in 1...5 { server.write("r\(number)", #""value":1"#) }
    for _ in 1...6 { server.put(Array("5".utf8)) }
    server.write("last", #""value":1"#)
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("notes")), store: InMemoryStore(),
      source: ChangeSource(server: server, identity: "example"), options: SyncOptions(pageSize: 2))
    let result = try await engine.sync()
    #expect(result["notes"].inserted == 6)
    #expect(result["notes"].quarantined == 6)
    server.advance(60_000)
    server.write("r1", #""deleted":true"#)
    #expect(try await engine.sync()["notes"].deleted == 1)
  }
}

/// A server that lists changes by their times, in the memory of the test.
final class NoteServer: ChangeServer, WriteServer {
  private struct Note {
    var key: String
    var time: Int64
    var number: Int
    var body: [UInt8]
  }
  private struct State {
    var now: Int64 = 1_700_000_000_000
    var number = 0
    var notes: [Note] = []
    var writes = 0
    var losesAnswer = false

    mutating func tick() -> Int64 {
      now += 1
      number += 1
      return now
    }

    mutating func put(_ key: String, _ time: Int64, _ body: [UInt8]) {
      notes.removeAll { $0.key == key }
      notes.append(Note(key: key, time: time, number: number, body: body))
    }
  }
  private let state = Mutex(State())

  /// How often a record was written.
  var writes: Int { state.withLock { $0.writes } }

  /// Writes the next record without an answer.
  func loseAnswer() { state.withLock { $0.losesAnswer = true } }

  func advance(_ milliseconds: Int64) { state.withLock { $0.now += milliseconds } }

  func write(_ key: String, _ members: String) {
    state.withLock { state in
      let time = state.tick()
      state.writes += 1
      state.put(key, time, Self.body(key, time, members))
    }
  }

  func write(_ type: String, _ key: String, body: [UInt8]?, over time: Int64?) throws -> WriteAnswer {
    let (note, isWritten, isLost) = state.withLock { state in
      let present = state.notes.first { $0.key == key }
      guard present?.time == time else { return (present, false, false) }
      let now = state.tick()
      state.writes += 1
      state.put(key, now, Self.body(key, now, body ?? Array(#"{"deleted":true}"#.utf8)))
      defer { state.losesAnswer = false }
      return (state.notes.last, true, state.losesAnswer)
    }
    struct Lost: Error {}
    if isLost { throw Lost() }
    return isWritten ? .written(note?.body ?? []) : .changed(note?.body)
  }

  /// Puts bytes that are no record. The server stamps them if they are an object.
  func put(_ bytes: [UInt8]) {
    state.withLock { state in
      let time = state.tick()
      var fields = try? FieldMap(Payload(bytes))
      fields?["updated_at"] = Array("\(time)".utf8)[...]
      state.put("no record \(state.number)", time, fields.map { Array($0.payload.bytes) } ?? bytes)
    }
  }

  /// Begins a write of the present time, which calling the result makes visible.
  func begin(_ key: String, _ members: String) -> @Sendable () -> Void {
    let time = state.withLock { $0.tick() }
    return { self.state.withLock { $0.put(key, time, Self.body(key, time, members)) } }
  }

  private static func body(_ key: String, _ time: Int64, _ members: String) -> [UInt8] {
    body(key, time, Array("{\(members)}".utf8))
  }

  /// An object as the server keeps it: with the key and its time.
  private static func body(_ key: String, _ time: Int64, _ object: [UInt8]) -> [UInt8] {
    var fields = (try? FieldMap(Payload(object))) ?? FieldMap()
    fields[scalar: "id"] = .string(key)
    fields[scalar: "updated_at"] = .number("\(time)")
    return Array(fields.payload.bytes)
  }

  func changes(of type: String, since: Int64, cursor: String?, limit: Int) -> ChangeAnswer {
    state.withLock { state in
      let place = (cursor ?? "").split(separator: ".").compactMap { Int64($0) }
      let after = place.count == 2 ? (place[0], place[1]) : (since, Int64.max)
      let later = state.notes.filter { (since < $0.time) && after < ($0.time, Int64($0.number)) }
        .sorted { ($0.time, $0.number) < ($1.time, $1.number) }
      let page = later.prefix(limit)
      let body = Array("[".utf8) + page.map(\.body).joined(separator: Array(",".utf8)) + Array("]".utf8)
      let last = page.last.map { "\($0.time).\($0.number)" }
      return ChangeAnswer(body: body, serverTime: state.now, cursor: page.count < later.count ? last : nil)
    }
  }
}

/// The guide's source with one mistake.
struct BrokenSource: RemoteRecordSource {
  enum Flaw: String, CaseIterable, Sendable {
    case sendsItsTokenWithEveryPage, continuesBehindTheLastReadableRecord

    var check: SourceCheck {
      switch self {
      case .sendsItsTokenWithEveryPage: .tokenComesFromTheStart
      case .continuesBehindTheLastReadableRecord: .malformedRecordsMayFillAPage
      }
    }
  }

  let flaw: Flaw
  let base: ChangeSource<NoteServer>
  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    switch flaw {
    case .sendsItsTokenWithEveryPage:
      if case .resume(let token) = request.position { page.startToken = SyncToken(token.rawValue) }
    case .continuesBehindTheLastReadableRecord:
      let isReadable = page.changes.contains { if case .malformed = $0 { false } else { true } }
      if !isReadable, case .more(_, let resumable) = page.next, case .resume(let token) = request.position {
        page.next = .more(token, resumable: resumable)
      }
    }
    return page
  }
}
