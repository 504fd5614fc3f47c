import CanonicalSyncListening
import Foundation
import Synchronization

/// A partial Kinto server for a mirror with edits: one collection in memory.
///
/// It logs the effect of every edit, and outlives the editing processes.
package final class BookkeepingKinto: Sendable {
  /// The effect of one accepted change.
  package struct Effect: Sendable {
    package var key: String
    /// The time of the change's base copy; `nil` for a new record.
    package var base: Int64?
    /// The previous record, without its id and time; `nil` if there was none.
    package var previous: String?
    /// The record without its id and time; `nil` for a deletion.
    package var content: String?
  }

  /// A record, or the tombstone of a deleted one.
  package struct Row: Sendable {
    package var modified: Int64
    /// The record without its id and time; `nil` once it is deleted.
    package var content: String?
  }

  private struct State {
    var rows: [String: Row] = [:]
    var now: Int64 = 1_700_000_000_000
    var effects: [Effect] = []
    var batches = 0
    var repeated = 0
    var onBatch: (@Sendable (Int) -> Void)?
    var onRequest: (@Sendable (String) -> Void)?

    /// The time of the next change. Times differ by more than the overlap of a delta, so a delta
    /// holds exactly the newer changes.
    mutating func tick() -> Int64 {
      now += 10_000
      return now
    }
  }

  private let listener: LoopbackListener
  private let batchLimit: Int
  private let state = Mutex(State())

  /// The address of the server's API.
  package var address: String { "http://127.0.0.1:\(listener.port)/v1" }
  /// Every effect, oldest first.
  package var effects: [Effect] { state.withLock { $0.effects } }
  /// The number of changes that arrived again after their effect.
  package var repeated: Int { state.withLock { $0.repeated } }
  /// The records by key, each without its id and time.
  package var records: [String: String] { state.withLock { $0.rows.compactMapValues(\.content) } }
  /// The records and tombstones, by key.
  package var rows: [String: Row] { state.withLock { $0.rows } }

  /// Sets a function that gets the number of each batch before it is handled.
  ///
  /// Batches are counted from 1. The call is on the thread that serves the batch.
  package func onBatch(_ act: (@Sendable (Int) -> Void)?) {
    state.withLock { state in
      state.batches = 0
      state.onBatch = act
    }
  }

  /// Sets a function that is called with each request's user before it is handled.
  ///
  /// The call is on the thread that serves the request.
  package func onRequest(_ act: (@Sendable (_ user: String) -> Void)?) {
    state.withLock { $0.onRequest = act }
  }

  /// Writes or deletes a record as another client does. The effect is not logged.
  ///
  /// - Parameter change: Gets the members of the record, `nil` for a missing one. It deletes the
  ///   record by setting `nil`.
  package func write(_ key: String, _ change: (inout [String: Any]?) -> Void) {
    state.withLock { state in
      var members = state.rows[key]?.content.flatMap {
        try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
      change(&members)
      state.rows[key] = Row(modified: state.tick(), content: members.flatMap(Self.text))
    }
  }

  /// Runs a body with a server with bucket `b` and collection `items`, and stops it.
  ///
  /// - Parameter batchLimit: The most changes of a batch.
  package static func with(batchLimit: Int, _ body: (BookkeepingKinto) async throws -> Void) async throws {
    let server = try BookkeepingKinto(batchLimit: batchLimit)
    server.listen()
    defer { server.listener.stop() }
    try await body(server)
  }

  private init(batchLimit: Int) throws {
    listener = try LoopbackListener()
    self.batchLimit = batchLimit
  }

  private func listen() {
    listener.serve { [self] connection in
      if let request = HTTPText(from: connection, endsWithConnection: false) {
        connection.send(answer(to: request).bytes)
      }
      connection.close()
    }
  }

  // MARK: Requests

  private func answer(to request: HTTPText) -> HTTPText {
    let records = "/v1/buckets/b/collections/items/records"
    let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
    let (target, query) = (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    state.withLock(\.onRequest)?(request.user ?? "")
    switch target {
    case "GET /v1/", "GET /v1": return Self.ok(#"{"settings":{"batch_max_requests":\#(batchLimit)}}"#)
    case "POST /v1/batch":
      let (act, number) = state.withLock { state in
        state.batches += 1
        return (state.onBatch, state.batches)
      }
      act?(number)
      return Self.ok(state.withLock { Self.answer(toBatch: request.body, &$0) })
    case "HEAD \(records)":
      return state.withLock { state in
        let count = state.rows.values.count { $0.content != nil }
        return Self.ok("", ["ETag: \"\(state.now)\"", "Total-Objects: \(count)"])
      }
    case "GET \(records)":
      let names = ["_since", "_after", "_limit"]
      let numbers = names.map { name in
        query.split(separator: "&").first { $0.hasPrefix(name + "=") }.flatMap {
          Int64($0.dropFirst(name.count + 1))
        }
      }
      return state.withLock { page(since: numbers[0], after: numbers[1], limit: numbers[2], $0) }
    default: return HTTPText("HTTP/1.1 404 Not Found", [], body: Array("{}".utf8))
    }
  }

  private static func ok(_ json: String, _ headers: [String] = []) -> HTTPText {
    HTTPText("HTTP/1.1 200 OK", ["Content-Type: application/json"] + headers, body: Array(json.utf8))
  }

  /// A page of all records, or of the changes after a time, tombstones included.
  private func page(since: Int64?, after: Int64?, limit: Int64?, _ state: State) -> HTTPText {
    let rows = state.rows.filter { _, row in
      (since.map { row.modified > $0 } ?? (row.content != nil)) && row.modified > after ?? 0
    }.sorted { $0.value.modified < $1.value.modified }
    let page = rows.prefix(Int(limit ?? .max))
    var headers = ["ETag: \"\(state.now)\""]
    if let last = page.last, page.count < rows.count {
      let query = "_after=\(last.value.modified)" + (since.map { "&_since=\($0)" } ?? "")
      headers.append("Next-Page: \(address)/buckets/b/collections/items/records?\(query)")
    }
    let data = page.map { Self.json($0, $1) }
    return Self.ok(#"{"data":[\#(data.joined(separator: ","))]}"#, headers)
  }

  private static func json(_ key: String, _ row: Row) -> String {
    let members = (row.content ?? #"{"deleted":true}"#).dropFirst()
    return #"{"id":"\#(key)","last_modified":\#(row.modified)"# + (members == "}" ? "" : ",") + members
  }

  // MARK: Changes

  private static func answer(toBatch body: [UInt8], _ state: inout State) -> String {
    let batch = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
    let answers = (batch?["requests"] as? [[String: Any]] ?? []).map { answer(toChange: $0, &state) }
    return #"{"responses":[\#(answers.joined(separator: ","))]}"#
  }

  private static func answer(toChange change: [String: Any], _ state: inout State) -> String {
    guard let method = change["method"] as? String, let path = change["path"] as? String,
      let key = path.split(separator: "/").last.map(String.init)
    else { return #"{"status":400,"body":{}}"# }
    let headers = change["headers"] as? [String: String] ?? [:]
    let base = headers["If-Match"].flatMap { Int64($0.filter(\.isNumber)) }
    let content = method == "DELETE" ? nil : content(of: change)
    let current = state.rows[key].flatMap { $0.content == nil ? nil : $0 }
    guard current?.modified == base, method != "DELETE" || current != nil else {
      if state.effects.contains(where: { $0.key == key && $0.base == base && $0.content == content }) {
        state.repeated += 1
      }
      guard let current else { return #"{"status":\#(method == "DELETE" ? 404 : 412),"body":{}}"# }
      return #"{"status":412,"body":{"errno":114,"details":{"existing":\#(json(key, current))}}}"#
    }
    let row = Row(modified: state.tick(), content: content)
    state.rows[key] = row
    state.effects.append(Effect(key: key, base: base, previous: current?.content, content: content))
    return #"{"status":\#(base == nil ? 201 : 200),"body":{"data":\#(json(key, row))}}"#
  }

  /// The content to write, in one spelling, so that contents can be compared.
  private static func content(of change: [String: Any]) -> String? {
    guard var data = (change["body"] as? [String: Any])?["data"] as? [String: Any] else { return nil }
    data["id"] = nil
    data["last_modified"] = nil
    return text(data)
  }

  private static func text(_ members: [String: Any]) -> String? {
    (try? JSONSerialization.data(withJSONObject: members, options: .sortedKeys))
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension HTTPText {
  /// The user name in basic credentials.
  fileprivate var user: String? {
    guard let value = self["authorization"], value.hasPrefix("Basic "),
      let bytes = Data(base64Encoded: String(value.dropFirst("Basic ".count)))
    else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: ":").first.map(String.init)
  }
}
