import Foundation
package import HTTPAdapters
import SyncConformance
import SyncJSON
package import SyncModels
import Synchronization

/// A JSON API in memory, with every style of pages and deltas.
///
/// Its clock advances with each write, and on request.
package final class FakeREST: HTTPTransport {
  private struct Row {
    var modified: Int64
    /// The number of the change.
    var change: Int
    /// The record without its key and time; `nil` once it is deleted.
    var content: [String: any Sendable]?
    var isVisible = true
  }

  private struct State {
    var rows: [String: Row] = [:]
    var raw: [String] = []
    var now: Int64 = 1_700_000_000_000
    var change = 0
    var epoch = 1
    var requests: [HTTPRequest] = []
    var onRequest: (@Sendable (HTTPRequest) -> HTTPResponse?)?
  }
  private let state = Mutex(State())
  /// Whether deleted records stay in deltas, with a mark.
  package let keepsDeleted: Bool

  package static let base = "https://api.test/v1/"

  package init(keepsDeleted: Bool = true) { self.keepsDeleted = keepsDeleted }

  package var requests: [HTTPRequest] { state.withLock { $0.requests } }

  /// Answers requests in place of the API, where the function gives an answer.
  package func onRequest(_ act: (@Sendable (HTTPRequest) -> HTTPResponse?)?) {
    state.withLock { $0.onRequest = act }
  }

  /// Advances the server's clock.
  package func pass(_ milliseconds: Int64) { state.withLock { $0.now += milliseconds } }

  /// Writes a record, or deletes it.
  package func put(_ key: String, _ value: Int?) {
    state.withLock { state in
      if let value { Self.write(key, ["value": value], &state) } else { delete(key, &state) }
    }
  }

  private static func write(_ key: String, _ content: [String: any Sendable], _ state: inout State) {
    state.now += 1
    state.change += 1
    state.rows[key] = Row(modified: state.now, change: state.change, content: content)
  }

  private func delete(_ key: String, _ state: inout State) {
    state.now += 1
    state.change += 1
    state.rows[key] = keepsDeleted ? Row(modified: state.now, change: state.change) : nil
  }

  /// The records that the API has, by key.
  package var live: [String: String] {
    state.withLock { state in
      var live: [String: String] = [:]
      for (key, row) in state.rows where row.content != nil { live[key] = Self.json(key, row) }
      return live
    }
  }

  /// Adds an element to the list that is no record.
  package func putRaw(_ json: String) { state.withLock { $0.raw.append(json) } }

  /// Begins a write that is stamped now and visible once the returned function is called.
  package func begin(_ key: String, _ value: Int) -> @Sendable () -> Void {
    state.withLock { state in
      Self.write(key, ["value": value], &state)
      state.rows[key]?.isVisible = false
    }
    return { self.state.withLock { $0.rows[key]?.isVisible = true } }
  }

  /// Restores an earlier backup: the same records, all with earlier times. No token is known.
  package func restore() {
    state.withLock { state in
      state.now -= 1_000_000
      state.epoch += 1
      for key in state.rows.keys { state.rows[key]?.modified -= 1_000_000 }
    }
  }

  package func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    let act = state.withLock { state in
      state.requests.append(request)
      return state.onRequest
    }
    if let answer = act?(request) { return answer }
    return state.withLock { answer(request, &$0) }
  }

  private func answer(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
    guard request.address.path.hasPrefix("/v1/items") else { return HTTPResponse(status: 404) }
    let key = request.address.path.dropFirst("/v1/items/".count)
    guard key.isEmpty else { return single(String(key).removingPercentEncoding ?? "", request, &state) }
    return list(request, state)
  }

  // MARK: Lists

  private func list(_ request: HTTPRequest, _ state: State) -> HTTPResponse {
    var query: [String: String] = [:]
    for item in URLComponents(string: "\(request.address)")?.queryItems ?? [] {
      query[item.name] = item.value
    }
    var rows = state.rows.filter { $0.value.isVisible }
    if let since = query["updated_since"].flatMap({ Int64($0) }) {
      rows = rows.filter { $0.value.modified >= since }
    } else if let token = query["sync_token"] {
      let parts = token.split(separator: "-").compactMap { Int($0) }
      guard parts.count == 2, parts[0] == state.epoch else { return HTTPResponse(status: 410) }
      rows = rows.filter { $0.value.change > parts[1] }
    } else {
      rows = rows.filter { $0.value.content != nil }
    }
    let sorted = rows.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
    var all = sorted.map { (key: $0.key, json: Self.json($0.key, $0.value)) }
    if query["updated_since"] == nil, query["sync_token"] == nil {
      all += state.raw.enumerated().map { ("~\($0.offset)", $0.element) }
    }
    let limit = query["limit"].flatMap { Int($0) } ?? 5
    var start = 0
    if let page = query["page"].flatMap({ Int($0) }) {
      start = (page - 1) * limit
      if start > 0, start >= all.count { return HTTPResponse(status: 404) }
    } else if let offset = query["offset"].flatMap({ Int($0) }) {
      start = offset
    } else if let cursor = query["cursor"] {
      let parts = cursor.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts[0] == "\(state.epoch)" else { return HTTPResponse(status: 410) }
      start =
        all.firstIndex { $0.key.utf8.lexicographicallyPrecedes(parts[1].utf8) == false && $0.key != parts[1] }
        ?? all.count
    }
    let page = all.dropFirst(start).prefix(limit)
    var (next, cursor) = ("null", "null")
    var headers: HTTPHeaders = ["Date": HTTPDateText.text(state.now)]
    if start + page.count < all.count, let last = page.last {
      cursor = "\"\(state.epoch):\(last.key)\""
      var kept = query
      kept["cursor"] = "\(state.epoch):\(last.key)"
      var address = URLComponents()
      address.queryItems = kept.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
      let target = "/v1/items?\(address.percentEncodedQuery ?? "")"
      next = "\"\(target)\""
      headers["Link"] = "<https://api.test/v1/items?limit=1>; rel=\"first\", <\(target)>; rel=\"next\""
    }
    let elements = page.map(\.json).joined(separator: ",")
    let meta =
      #""next":\#(next),"cursor":\#(cursor),"total":\#(all.count),"sync_token":"\#(state.epoch)-\#(state.change)""#
    let body = #"{"data":[\#(elements)],"meta":{\#(meta)}}"#
    let tag = "\"\(Self.digest(elements + next))\""
    headers["ETag"] = tag
    if request.headers["If-None-Match"] == tag { return HTTPResponse(status: 304, headers: headers) }
    return HTTPResponse(status: 200, headers: headers, body: Array(body.utf8))
  }

  private static func json(_ key: String, _ row: Row) -> String {
    var members = row.content ?? ["deleted": true]
    members["id"] = key
    members["updated_at"] = row.modified
    let data = try? JSONSerialization.data(withJSONObject: members, options: [.sortedKeys])
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  private static func digest(_ text: String) -> UInt64 {
    text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }

  // MARK: Single records

  private func single(_ key: String, _ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
    let row = state.rows[key].flatMap { $0.isVisible && $0.content != nil ? $0 : nil }
    let tag = row.map { "\"\($0.change)\"" }
    let date = HTTPDateText.text(state.now)
    if let wanted = request.headers["If-Match"], wanted != tag { return HTTPResponse(status: 412) }
    if request.headers["If-None-Match"] == "*", row != nil { return HTTPResponse(status: 412) }
    switch request.method {
    case "GET":
      guard let row else { return HTTPResponse(status: 404) }
      return HTTPResponse(
        status: 200, headers: ["ETag": tag ?? "", "Date": date], body: Array(Self.json(key, row).utf8))
    case "PUT":
      guard var content = Self.members(request.body) else { return HTTPResponse(status: 400) }
      if let version = content["updated_at"] as? Int64, version != row?.modified {
        return HTTPResponse(status: 409)
      }
      content["id"] = nil
      content["updated_at"] = nil
      Self.write(key, content, &state)
      guard let row = state.rows[key] else { return HTTPResponse(status: 500) }
      return HTTPResponse(
        status: 200, headers: ["ETag": "\"\(row.change)\"", "Date": date],
        body: Array(Self.json(key, row).utf8))
    case "DELETE":
      guard row != nil else { return HTTPResponse(status: 404) }
      delete(key, &state)
      return HTTPResponse(status: 204, headers: ["Date": date])
    default: return HTTPResponse(status: 405)
    }
  }

  private static func members(_ body: [UInt8]) -> [String: any Sendable]? {
    guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
      return nil
    }
    return object.compactMapValues { value in
      if let number = value as? NSNumber { return number.int64Value }
      return value as? String
    }
  }
}

extension FakeREST {
  /// A style of an API: how pages follow, and how changes are asked for.
  package struct Style: Sendable, CustomStringConvertible {
    package var description: String
    package var paging: RESTAPI.Paging?
    package var delta: RESTAPI.Delta?

    package init(_ description: String, paging: RESTAPI.Paging? = nil, delta: RESTAPI.Delta?) {
      (self.description, self.paging, self.delta) = (description, paging, delta)
    }
  }

  private static let pagings: [(String, RESTAPI.Paging)] = [
    ("links", .link("next")), ("addresses", .next("/meta/next")),
    ("cursors", .cursor("/meta/cursor", parameter: "cursor")), ("pages", .page("page")),
    ("offsets", .offset("offset")),
  ]
  private static let deltas: [(String, RESTAPI.Delta?)] = [
    ("times", .since("updated_since", format: .milliseconds, overlap: .seconds(5))),
    ("tokens", .token("/meta/sync_token", parameter: "sync_token")), ("tags", .etag), ("no deltas", nil),
  ]
  /// Every way of paging with every kind of delta.
  package static let styles = pagings.flatMap { paging in
    deltas.map { delta in
      Style("\(paging.0) and \(delta.0)", paging: paging.1, delta: delta.1)
    }
  }

  /// The description of the items.
  package static func collection(_ style: Style) -> RESTAPI.Collection {
    var items = RESTAPI.Collection(SourceHarness.entity, path: "items")
    items.records = "/data"
    items.version = "/updated_at"
    items.deleted = "/deleted"
    items.paging = style.paging
    items.pageSize = RESTAPI.PageSize("limit", maximum: 1000)
    items.delta = style.delta
    items.item = "items/{id}"
    return items
  }

  /// A source over the API.
  package func source(_ style: Style) throws(SyncError) -> RESTSource {
    try RESTSource(RESTAPI(base: Self.base, collections: [Self.collection(style)]), transport: self)
  }
}
