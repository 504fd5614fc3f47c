import CanonicalSync
import Foundation
import HTTPAdapters
import SyncAdapters
import SyncJSON
import Synchronization
import Testing

@Suite("A server that keeps keys in a spelling of its own", .timeLimit(.minutes(10)))
struct RESTSpellingTests {
  enum Answer: CaseIterable { case whole, silent, echo, lost }

  /// A server that takes keys in any case and form, as databases do, and has them in one.
  private final class Folding: HTTPTransport {
    struct State {
      var records = KeyedRecords()
      var answer = Answer.whole
      var isLost = false
    }
    let state = Mutex(State())

    static func folded(_ key: String) -> String { key.lowercased().precomposedStringWithCanonicalMapping }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let path = String(request.address.path.dropFirst("/v1/".count)).removingPercentEncoding ?? ""
      let response: HTTPResponse? = state.withLock { state in
        let response = Self.answer(request, at: Self.folded(path), &state)
        guard request.method != "GET", state.isLost else { return response }
        state.isLost = false
        return nil
      }
      if let response { return response }
      throw SyncError(.remoteUnavailable, during: "a request", "The connection was cut.")
    }

    private static func answer(
      _ request: HTTPRequest, at path: String, _ state: inout State
    ) -> HTTPResponse {
      guard path.contains("/") else {
        let list = #"{"data":[\#(state.records.elements(of: path))],"next":null}"#
        return HTTPResponse(status: 200, body: Array(list.utf8))
      }
      switch request.method {
      case "GET": return state.records.answer(at: path)
      case "DELETE":
        return HTTPResponse(status: state.records.all.removeValue(forKey: path) == nil ? 404 : 204)
      default: break
      }
      guard var members = try? FieldMap(Payload(request.body[...])) else { return HTTPResponse(status: 400) }
      for name in ["id", "item"] as [FieldName] {
        let text = members[name].flatMap { try? JSONValueSlice(checking: $0).string() }
        if let text { members[name] = JSONString.quoted(folded(text))[...] }
      }
      state.records.all[path] = members
      switch state.answer {
      case .silent: return HTTPResponse(status: 204)
      case .echo: return HTTPResponse(status: 200, body: request.body)
      case .whole, .lost: return HTTPResponse(status: 200, body: Array(members.payload.bytes))
      }
    }

    /// The records of a type, as JSON by key.
    func records(_ type: String) -> [String: String] {
      state.withLock { $0.records.payloads(of: type) }.mapValues { String(decoding: $0.bytes, as: UTF8.self) }
    }
  }

  private func mirror() async throws -> KeyedMirror<Folding> {
    let types = """
      {"items":{"path":"items","records":"/data","paging":{"next":"/next"},"item":"items/{id}",
          "push":{"write":"PUT items/{id}","delete":"DELETE items/{id}"}},
        "notes":{"path":"notes","records":"/data","paging":{"next":"/next"},"item":"notes/{id}",
          "push":{"write":"PUT notes/{id}"},"references":{"item":"items"}}}
      """
    return try await KeyedMirror(
      Folding(), types: types, Entity("items"), Entity("notes", references: [.to("items", by: "item")]))
  }

  private static let keys = ["5042FBD9-F85B-4422-B276-02F949F1BC59", "Cafe\u{301}"]

  /// Swift writes a UUID in capitals, and PostgreSQL in small letters.
  @Test(arguments: Answer.allCases, keys)
  func hasOneRecordAsTheDeviceHas(_ answer: Answer, _ key: String) async throws {
    let mirror = try await mirror()
    func here(_ type: RecordType) -> [String: String] {
      mirror.payloads(of: type).mapValues { String(decoding: $0.bytes, as: UTF8.self) }
    }
    mirror.server.state.withLock { ($0.answer, $0.isLost) = (answer, answer == .lost) }
    try await mirror.write("items", key, ["id": key, "name": "A"])
    try await mirror.write("notes", "1", ["id": "1", "item": key])
    for _ in 1...3 { _ = try await mirror.sync() }
    #expect(mirror.server.records("items").count == 1)
    #expect(here("items") == mirror.server.records("items"))
    #expect(here("items").keys.map { Array($0.utf8) } == [Array(Folding.folded(key).utf8)])
    #expect(here("notes") == mirror.server.records("notes"))
    for type in ["items", "notes"] as [RecordType] {
      #expect(try await mirror.engine.edits.pending(type).isEmpty)
    }
    // An edit by the former key, and a deletion, still find the record.
    try await mirror.write("items", Folding.folded(key), ["id": Folding.folded(key), "name": "B"])
    for _ in 1...2 { #expect(try await mirror.sync().isEmpty) }
    #expect(here("items") == mirror.server.records("items"))
    #expect(here("items").values.allSatisfy { $0.contains("B") })
  }
}
