import CanonicalSync
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import SyncJSON
import Synchronization
import Testing

@Suite("An edit that gives a record of a JSON API another key", .timeLimit(.minutes(10)))
struct RESTRenameTests {
  /// Labels whose key is their name in small letters, and notes that refer to them.
  private final class Labels: HTTPTransport {
    struct State {
      var records = KeyedRecords()
      var made = 0
      /// Whether the answers to writes tell nothing.
      var isSilent = false
      /// Whether the answers to writes have no key.
      var hidesKeys = false
      /// Whether writes leave the key as it was.
      var keepsKeys = false
      /// The number of answers to lose.
      var lost = 0
    }
    let state = Mutex(State())

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let path = String(request.address.path.dropFirst("/v1/".count))
      let (response, isLost) = state.withLock { state in
        let response = Self.answer(request, at: path, &state)
        guard request.method != "GET", state.lost > 0 else { return (response, false) }
        state.lost -= 1
        return (response, true)
      }
      if isLost { throw SyncError(.remoteUnavailable, during: "a request", "The connection was cut.") }
      return response
    }

    private static func answer(
      _ request: HTTPRequest, at path: String, _ state: inout State
    ) -> HTTPResponse {
      guard path.contains("/") else {
        return HTTPResponse(status: 200, body: Array("[\(state.records.elements(of: path))]".utf8))
      }
      if request.method == "GET" { return state.records.answer(at: path) }
      guard var members = try? FieldMap(Payload(request.body[...])) else { return HTTPResponse(status: 400) }
      var place = path
      if path.hasPrefix("labels/") {
        let name = members["name"].flatMap { try? JSONValueSlice(checking: $0).string() } ?? ""
        let own = members["slug"].flatMap { try? JSONValueSlice(checking: $0).string() } ?? ""
        let former = String(path.dropFirst("labels/".count))
        let slug = state.keepsKeys ? former : own == former ? name.lowercased() : own
        members["slug"] = JSONString.quoted(slug)[...]
        place = "labels/" + slug
        if place != path, state.records.all[place] != nil { return HTTPResponse(status: 409) }
      }
      if state.records.all[path] == nil { state.made += 1 }
      state.records.all[path] = nil
      state.records.all[place] = members
      if state.hidesKeys { members["slug"] = nil }
      return state.isSilent
        ? HTTPResponse(status: 204) : HTTPResponse(status: 200, body: Array(members.payload.bytes))
    }

    /// The records of a type, as JSON by key.
    func records(_ type: String) -> [String: String] {
      state.withLock { $0.records.payloads(of: type) }.mapValues(RESTRenameTests.text)
    }
  }

  private static func text(_ payload: Payload) -> String {
    String(decoding: payload.withoutEditStamp.bytes, as: UTF8.self)
  }

  private typealias Mirror = KeyedMirror<Labels>

  private func mirror() async throws -> Mirror {
    let types = """
      {"labels":{"path":"labels","records":"","id":"/slug","push":{"write":"PUT labels/{id}"}},
        "notes":{"path":"notes","records":"","push":{"write":"PUT notes/{id}"},
          "references":{"label":"labels"}}}
      """
    let mirror = try await Mirror(
      Labels(), types: types, Entity("labels"), Entity("notes", references: [.to("labels", by: "label")]))
    mirror.server.state.withLock { state in
      let records = [
        "labels/home": #"{"slug":"home","name":"Home","color":"blue"}"#,
        "notes/1": #"{"id":"1","label":"home"}"#,
      ]
      state.records.all = records.compactMapValues { try? FieldMap(Payload(Array($0.utf8)[...])) }
    }
    #expect(try await mirror.sync().isEmpty)
    #expect(here(mirror, "labels").keys.sorted() == ["home"])
    return mirror
  }

  private func here(_ mirror: Mirror, _ type: RecordType) -> [String: String] {
    mirror.payloads(of: type).mapValues(Self.text)
  }

  enum Answer: CaseIterable { case whole, silent, lost }

  @Test(arguments: Answer.allCases)
  func leavesOneRecordUnderTheNewKeyWithAllThatRefersToIt(_ answer: Answer) async throws {
    let mirror = try await mirror()
    mirror.server.state.withLock {
      $0.isSilent = answer == .silent
      $0.lost = answer == .lost ? 1 : 0
    }
    try await mirror.write("labels", "home", answer == .whole ? ["name": "House"] : ["slug": "house"])
    for _ in 1...3 { _ = try await mirror.sync() }
    #expect(mirror.server.records("labels").keys.sorted() == ["house"])
    #expect(mirror.server.records("notes") == ["1": #"{"id":"1","label":"house"}"#])
    #expect(here(mirror, "labels") == mirror.server.records("labels"))
    #expect(here(mirror, "notes") == mirror.server.records("notes"))
    #expect(mirror.server.state.withLock { $0.made } == 0)
    #expect(try await mirror.engine.edits.pending("labels").isEmpty)
  }

  /// The server makes the key of the name, and does not tell it. To write the record again would make another.
  @Test(arguments: [true, false])
  func waitsForTheAppWhereNothingTellsTheNewKey(isSilent: Bool) async throws {
    let mirror = try await mirror()
    mirror.server.state.withLock { ($0.isSilent, $0.hidesKeys) = (isSilent, true) }
    try await mirror.write("labels", "home", ["name": "House"])
    for _ in 1...3 { _ = try await mirror.sync() }
    #expect(mirror.server.records("labels").keys.sorted() == ["house"])
    #expect(mirror.server.state.withLock { $0.made } == 0)
    let waiting = try await mirror.engine.edits.waiting("labels")
    #expect(waiting.map(\.entry.id.key) == ["home"])
    #expect(waiting.allSatisfy { $0.reason.contains("another one") })
    try await mirror.engine.edits.discard(RecordID(type: "labels", key: "home"))
    for _ in 1...2 { _ = try await mirror.sync() }
    #expect(here(mirror, "labels") == mirror.server.records("labels"))
  }

  @Test func isUndoneByAnother() async throws {
    let mirror = try await mirror()
    for name in ["House", "Home", "House"] {
      try await mirror.write("labels", "home", ["name": name])
      for _ in 1...2 { #expect(try await mirror.sync().isEmpty) }
      #expect(mirror.server.records("labels").keys.sorted() == [name.lowercased()])
      #expect(here(mirror, "labels") == mirror.server.records("labels"))
      #expect(here(mirror, "notes") == ["1": #"{"id":"1","label":"\#(name.lowercased())"}"#])
      for key in ["home", "house"] {
        let found = try await mirror.engine.edits.perform { (batch) throws(SyncError) in
          try batch.record(RecordID(type: "labels", key: key))?.id.key
        }
        #expect(found == name.lowercased())
      }
    }
  }

  /// Another client changes another member before the edit arrives, which is the later write.
  @Test func meetsTheChangeOfAnother() async throws {
    let mirror = try await mirror()
    try await mirror.write("labels", "home", ["slug": "house"])
    mirror.server.state.withLock { state in
      state.records.all["labels/home"] = try? FieldMap(
        Payload(Array(#"{"slug":"home","name":"Home","color":"red"}"#.utf8)[...]))
    }
    for _ in 1...3 { _ = try await mirror.sync() }
    #expect(mirror.server.records("labels") == ["house": #"{"slug":"house","name":"Home","color":"blue"}"#])
    #expect(here(mirror, "labels") == mirror.server.records("labels"))
    #expect(here(mirror, "notes") == ["1": #"{"id":"1","label":"house"}"#])
  }

  @Test func waitsWhereAServerKeepsTheFormerKey() async throws {
    let mirror = try await mirror()
    mirror.server.state.withLock { $0.keepsKeys = true }
    try await mirror.write("labels", "home", ["slug": "house"])
    _ = try await mirror.sync()
    _ = try await mirror.sync()
    #expect(try await mirror.engine.edits.waiting("labels").count == 1)
    #expect(here(mirror, "labels").keys.sorted() == ["home"])
  }
}
