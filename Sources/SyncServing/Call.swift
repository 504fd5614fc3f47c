import SyncModels

/// A request as the API understands it.
struct Call: Sendable {
  let request: ServiceRequest
  let path: ServicePath
  /// The names and values of the query.
  let pairs: [(name: String, value: String)]
  /// The scheme and the host.
  let origin: String
  /// Whether the request has just declared its collection.
  var isNews = false

  init(_ request: ServiceRequest, publicOrigin: String?) throws(SyncError) {
    let halves = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = ServicePath(halves[0]) else { throw Refusal.unknownPath }
    (self.request, self.path) = (request, path)
    pairs = halves.count == 2 ? try ServicePath.query(halves[1]) : []
    // The header of a proxy; a client that sends it deceives itself alone.
    let scheme = request.headers["x-forwarded-proto"] == "https" ? "https" : "http"
    origin = publicOrigin ?? "\(scheme)://\(request.headers["host"] ?? "localhost")"
  }

  /// The method, of which `HEAD` counts as `GET`.
  var method: String { request.method == "HEAD" ? "GET" : request.method }

  /// Whether the request changes nothing.
  var reads: Bool { method == "GET" }

  /// The type of the body, without parameters.
  var contentType: String { request.headers["content-type", default: ""].prefix { $0 != ";" }.lowercased() }

  /// The address of another page of the list.
  func address(ofPage token: String) -> String {
    let halves = request.target.split(separator: "?", maxSplits: 1)
    let query = halves.dropFirst().joined().split(separator: "&").filter { !$0.hasPrefix("_token=") }
    let path = halves[0].hasPrefix("/v1") ? halves[0] : "/v1\(halves[0])"
    return "\(origin)\(path)?\((query + ["_token=\(token)"]).joined(separator: "&"))"
  }

  /// The timestamp of a precondition; -1 for `*`.
  func precondition(_ name: String) throws(SyncError) -> Int64? {
    guard let text = request.headers[name] else { return nil }
    if text == "*" || text == "\"*\"" { return -1 }
    let bare = text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
    guard bare.hasPrefix("\""), let time = try? ListQuery.timestamp(name, bare) else {
      throw Refusal.parameter(name, "Invalid value for \(name)", in: "header")
    }
    return time
  }
}

extension ServiceRequest {
  var wantsEvents: Bool { headers["accept"]?.contains("text/event-stream") ?? false }

  /// Whether the client waits until something changes.
  var isPatient: Bool { wantsEvents || headers["prefer"]?.contains("wait") ?? false }
}
