import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import KintoAdapters
import SyncModels
import Synchronization

/// The part of Kinto that a mirror reads, in memory behind the transport port.
///
/// Its clock advances only on request.
final class FakeKinto: HTTPTransport {
  struct Row {
    var modified: Int64
    /// The record's value; `nil` for a tombstone, and for bytes that are not a record.
    var value: Int?
    var malformed: [UInt8]?
    var isVisible = true
  }

  private struct State {
    var rows: [String: Row] = [:]
    var now: Int64 = 1_700_000_000_000
    var etag: Int64 = 1_700_000_000_000
    var requests: [HTTPRequest] = []
  }
  private let state = Mutex(State())

  static let server = "https://kinto.test/v1"
  private static let path = "/v1/buckets/b/collections/items/records"

  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  /// Advances the server's clock.
  func pass(_ milliseconds: Int64) { state.withLock { $0.now += milliseconds } }

  /// Writes a record, or deletes it.
  func put(_ key: String, _ value: Int?) {
    state.withLock { state in
      state.now += 1
      state.etag = state.now
      state.rows[key] = Row(modified: state.now, value: value)
    }
  }

  func putMalformed(_ bytes: [UInt8]) {
    state.withLock { state in
      state.now += 1
      state.etag = state.now
      state.rows["malformed"] = Row(modified: state.now, malformed: bytes)
    }
  }

  /// Begins a write that is stamped now and visible once the returned function is called.
  func begin(_ key: String, _ value: Int) -> @Sendable () -> Void {
    state.withLock { state in
      state.now += 1
      state.rows[key] = Row(modified: state.now, value: value, isVisible: false)
    }
    return { self.state.withLock { $0.rows[key]?.isVisible = true } }
  }

  /// Deletes everything without tombstones. The time goes on.
  func flush() {
    state.withLock { state in
      state.now += 1
      state.etag = state.now
      state.rows = [:]
    }
  }

  /// Restores an earlier backup: the same records, all with earlier times.
  func restore() {
    state.withLock { state in
      state.now -= 1_000_000
      state.etag -= 1_000_000
      for key in state.rows.keys { state.rows[key]?.modified -= 1_000_000 }
    }
  }

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    state.withLock { state in
      state.requests.append(request)
      return Self.answer(request, state)
    }
  }

  private static func answer(_ request: HTTPRequest, _ state: State) -> HTTPResponse {
    guard request.address.path == path else { return record(request, state) }
    let etag = "\"\(state.etag)\""
    var headers: HTTPHeaders = ["ETag": etag, "Date": HTTPDateText.text(state.now)]
    if request.headers["If-None-Match"] == etag { return HTTPResponse(status: 304, headers: headers) }
    if let wanted = request.headers["If-Match"], wanted != etag {
      return HTTPResponse(status: 412, headers: headers)
    }
    var query: [String: String] = [:]
    for part in (request.address.query ?? "").split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1)
      query[String(pair[0])] = pair.count > 1 ? decoded(pair[1]) : ""
    }
    let live = state.rows.filter {
      $0.value.isVisible && ($0.value.value != nil || $0.value.malformed != nil)
    }
    if request.method == "HEAD" {
      headers["Total-Objects"] = "\(live.count)"
      return HTTPResponse(status: 200, headers: headers)
    }
    guard query["_sort"] == "last_modified,id" else { return HTTPResponse(status: 400) }
    let since = query["_since"].map { Int64($0) ?? 0 }
    var rows = (since == nil ? live : state.rows).filter {
      $0.value.isVisible && $0.value.modified > since ?? 0
    }
    if let keys = query["in_id"] {
      let wanted = Set(keys.split(separator: ",").map { String($0.dropFirst().dropLast()) })
      rows = rows.filter { wanted.contains($0.key) }
    }
    var sorted = rows.sorted { ($0.value.modified, $0.key) < ($1.value.modified, $1.key) }
    if let token = query["_token"] {
      guard let place = Int64(token) else { return HTTPResponse(status: 400) }
      // Times are unique here, so they serve as positions.
      sorted = sorted.filter { $0.value.modified > place }
    }
    let limit = query["_limit"].flatMap { Int($0) } ?? .max
    let page = sorted.prefix(limit)
    if sorted.count > limit, let last = page.last {
      let kept = (request.address.query ?? "").split(separator: "&").filter { !$0.hasPrefix("_token=") }
      headers["Next-Page"] =
        "https://kinto.test\(path)?\(kept.joined(separator: "&"))&_token=\(last.value.modified)"
    }
    let elements = page.map { key, row in
      if let malformed = row.malformed { return String(decoding: malformed, as: UTF8.self) }
      let content = row.value.map { #""value":\#($0)"# } ?? #""deleted":true"#
      return #"{"id":\#(quoted(key)),"last_modified":\#(row.modified),\#(content)}"#
    }
    return HTTPResponse(
      status: 200, headers: headers, body: Array(#"{"data":[\#(elements.joined(separator: ","))]}"#.utf8))
  }

  /// The answer to a request for one record.
  private static func record(_ request: HTTPRequest, _ state: State) -> HTTPResponse {
    guard request.method == "GET", request.address.path.hasPrefix("\(path)/"),
      let key = String(request.address.path.dropFirst(path.utf8.count + 1)).removingPercentEncoding
    else { return HTTPResponse(status: 404) }
    guard let row = state.rows[key], row.isVisible, let value = row.value else {
      return HTTPResponse(status: 404, body: Array(#"{"errno":110}"#.utf8))
    }
    let body = #"{"data":{"id":\#(quoted(key)),"last_modified":\#(row.modified),"value":\#(value)}}"#
    let headers: HTTPHeaders = ["ETag": "\"\(row.modified)\"", "Date": HTTPDateText.text(state.now)]
    return HTTPResponse(status: 200, headers: headers, body: Array(body.utf8))
  }

  private static func quoted(_ key: String) -> String {
    "\"\(key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  private static func decoded(_ text: Substring) -> String { String(text).removingPercentEncoding ?? "" }
}

extension HTTPResponse {
  /// Creates a Kinto page.
  static func page(_ elements: String = "", etag: Int64 = 5000, _ more: [String: String] = [:])
    -> HTTPResponse
  {
    var response = HTTPResponse(status: 200, headers: ["ETag": "\"\(etag)\""])
    for (name, value) in more { response.headers[name] = value }
    response.body = Array("{\"data\":[\(elements)]}".utf8)
    return response
  }
}

extension KintoSource {
  /// Creates a source over a transport, for tests.
  static func over(
    _ transport: any HTTPTransport, counting: Bool = false, credentials: HTTPCredentials? = nil
  ) throws -> KintoSource {
    var options = Options()
    options.countsRecords = counting
    return try KintoSource(
      server: FakeKinto.server, bucket: "b", credentials: credentials, options: options, transport: transport)
  }

  /// One page of the items.
  func page(_ position: PullPosition = .start(since: nil), limit: Int = 100) async throws(SyncError)
    -> RecordPage
  {
    try await page(
      PageRequest(entity: Entity("items", indexes: ["value"]), position: position, limit: limit, pass: 1))
  }
}
