import SyncJSON
import SyncModels

/// The requests for the lists and records of one collection.
struct RESTRequests: Sendable {
  let collection: RESTAPI.Collection
  let base: HTTPAddress
  let rootPath: String
  /// The parameter of the query that holds the credentials, which are added as a request is sent.
  var keyParameter: String?

  /// The headers that the description gives for all types.
  var apiHeaders: [String: HTTPSecret] = [:]

  /// The operation, for errors.
  var operation: String { "fetching a page of \(collection.entity.type)" }

  /// The number of records to ask for, of those that the engine wants.
  func size(_ limit: Int) -> Int { max(1, min(limit, collection.pageSize?.maximum ?? limit)) }

  /// A request for a page.
  struct Call: Sendable {
    var limit: Int
    var address: HTTPAddress
    var body: [UInt8] = []
  }

  /// The first page since a token, or of everything.
  func first(
    _ start: RESTToken?, limit: Int, in segment: RESTSegment = RESTSegment(), until: Timestamp? = nil
  )
    -> Call
  {
    list(start, limit: limit, place: .rows(0), segment, until)
  }

  /// The page at a place.
  func page(at bookmark: RESTBookmark, limit: Int) -> Call {
    var until: Timestamp?
    if collection.window != nil, case .since(let now) = bookmark.candidate.start { until = now }
    return list(bookmark.base, limit: limit, place: bookmark.place, bookmark.segment, until)
  }

  /// The end of a span that begins at a time: no later than the server's time.
  func end(of from: Timestamp, until now: Timestamp) -> Timestamp {
    min(from + (collection.window?.length ?? .zero), now)
  }

  /// The address with a target that the server gave, and what ``target(of:)`` left out.
  func address(_ target: String) -> HTTPAddress {
    collection.secretQuery.sorted { $0.key < $1.key }
      .reduce(base.resolving(target) ?? base) { $0.adding($1.key, $1.value) }
  }

  /// The path and the query of an address as they are stored: without secrets.
  func target(of address: HTTPAddress) -> String {
    address.without([keyParameter].compactMap(\.self) + collection.secretQuery.keys).target
  }

  private func list(
    _ start: RESTToken?, limit: Int, place: RESTBookmark.Place, _ segment: RESTSegment, _ until: Timestamp?
  ) -> Call {
    let items = items(start, limit: limit, place: place, segment, until)
    var body = collection.request?.body ?? []
    for (name, value) in items {
      if let pointer = pointer(name) { body = pointer.placing(value.json, in: body) }
    }
    if case .target(let target) = place { return Call(limit: limit, address: address(target), body: body) }
    // The address is whole, and the parameters are in it.
    if case .next = collection.delta, case .token(let target)? = start?.start {
      return Call(limit: limit, address: address(target), body: body)
    }
    let query = items.filter { pointer($0.0) == nil }
      .map { "\(PercentEncoding.encoded($0.0))=\(PercentEncoding.encoded($0.1.text))" }
    let listPath = marks(segment).reduce(collection.path) {
      $0.replacing("{\($1.0)}", with: PercentEncoding.encoded($1.1))
    }
    let address = HTTPAddress(
      base.origin, path: path(listPath), query: query.isEmpty ? nil : query.joined(separator: "&"))
    return Call(limit: limit, address: address, body: body)
  }

  /// The value of a parameter, which is a number where it counts.
  private enum Value {
    case text(String)
    case number(Int)

    var text: String {
      switch self {
      case .text(let text): text
      case .number(let number): "\(number)"
      }
    }

    var json: [UInt8] {
      switch self {
      case .text(let text): JSONString.quoted(text)
      case .number(let number): Array("\(number)".utf8)
      }
    }
  }

  /// A place in the body; `nil` for a parameter of the query.
  private func pointer(_ name: String) -> JSONPointer? {
    collection.request != nil && name.hasPrefix("/") ? JSONPointer(name) : nil
  }

  /// The marks of the path, with their values.
  private func marks(_ segment: RESTSegment) -> [(String, String)] {
    var marks: [(String, String)] = []
    if let each = collection.each, let value = each.values.element(at: segment.each) {
      marks.append((each.parameter, value))
    }
    if let under = collection.under, let parent = segment.parent { marks.append((under.parameter, parent)) }
    return marks
  }

  private func items(
    _ start: RESTToken?, limit: Int, place: RESTBookmark.Place, _ segment: RESTSegment, _ until: Timestamp?
  ) -> [(String, Value)] {
    var items: [(String, Value)] = collection.query.sorted { $0.key < $1.key }.map {
      ($0.key, .text($0.value))
    }
    for (name, value) in marks(segment) where !collection.path.contains("{\(name)}") {
      items.append((name, .text(value)))
    }
    switch (collection.delta, start?.start) {
    case (.since(let name, let format, let overlap, _), let began):
      var from = segment.from
      if collection.window == nil, case .since(let time)? = began { from = time - overlap }
      guard let from else { break }
      items.append((name, since(from, format)))
      if let window = collection.window, let until {
        items.append((window.until, since(end(of: from, until: until), format)))
      }
    case (.token(_, let name), .token(let token)):
      // One parameter may be both, and then the cursor is the later one.
      if collection.cursorIsToken, case .cursor = place { break }
      items.append((name, .text(token)))
    default: break
    }
    switch (collection.paging, place) {
    case (.cursor(_, let name), .cursor(let cursor)), (.cursorHeader(_, let name), .cursor(let cursor)),
      (.after(_, let name), .cursor(let cursor)):
      items.append((name, .text(cursor)))
    case (.cursor(_, let name), .rows(0)), (.cursorHeader(_, let name), .rows(0)),
      (.after(_, let name), .rows(0)):
      if let first = collection.firstCursor, !items.contains(where: { $0.0 == name }) {
        items.append((name, .text(first)))
      }
    case (.page(let name, let first), .rows(let rows)):
      items.append((name, .number(first + rows / max(1, limit))))
    case (.page(let name, let first), .page(let page)): items.append((name, .number(first + page)))
    case (.offset(let name), .rows(let rows)): items.append((name, .number(rows)))
    default: break
    }
    if let size = collection.pageSize { items.append((size.parameter, .number(limit))) }
    return items
  }

  /// A time as it is sent.
  private func since(_ time: Timestamp, _ format: RESTAPI.TimeFormat) -> Value {
    let text = format.text(time)
    if let template = collection.sinceTemplate { return .text(template.replacing("{since}", with: text)) }
    switch format {
    case .seconds, .milliseconds: return Int(text).map { .number($0) } ?? .text(text)
    case .rfc3339, .rfc2822, .number, .pattern: return .text(text)
    }
  }

  /// The headers of a request: its own, and those of the description.
  func headers(_ own: HTTPHeaders = [:]) async throws(SyncError) -> HTTPHeaders {
    var headers = own
    for (name, secret) in further.sorted(by: { $0.key < $1.key }) {
      headers[name] = try await secret.current(during: operation)
    }
    return headers
  }

  /// Further headers, with one value for each name.
  private var further: [String: HTTPSecret] {
    let own = Set(collection.headers.keys.map { $0.lowercased() })
    return collection.headers.merging(apiHeaders.filter { !own.contains($0.key.lowercased()) }) { own, _ in
      own
    }
  }

  /// The address of one record; `nil` for a key that no path can hold.
  func record(_ key: String, path template: String) -> HTTPAddress? {
    let parts = collection.hasKeysOfParts ? key.keyParts : [key]
    // A dot would be resolved on the way, and lead to another address.
    guard parts.allSatisfy({ $0 != "." && $0 != ".." && !$0.isEmpty }) else { return nil }
    let place = parts.map(PercentEncoding.encoded).joined(separator: "/")
    return HTTPAddress(base.origin, path: path(template.replacing(RESTAPI.keyMark, with: place)))
  }

  /// The address of a path that is no record's.
  func collection(_ template: String) -> HTTPAddress { HTTPAddress(base.origin, path: path(template)) }

  /// The list at a path with a query, which finds a record by the key that the app has given it.
  func list(_ template: String, key: String) -> HTTPAddress {
    let parts = template.replacing(RESTAPI.ownKeyMark, with: PercentEncoding.encoded(key))
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return HTTPAddress(
      base.origin, path: path(String(parts[0])), query: parts.count > 1 ? String(parts[1]) : nil)
  }

  /// The key in the address of a record; `nil` for another address.
  func key(in location: String) -> String? {
    guard let template = collection.lookupPath, let address = base.resolving(location),
      address.origin == base.origin
    else { return nil }
    let parts = path(template).split(
      separator: RESTAPI.keyMark, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, address.path.hasPrefix(parts[0]), address.path.hasSuffix(parts[1]),
      address.path.count > parts[0].count + parts[1].count
    else { return nil }
    let key = address.path.dropFirst(parts[0].count).dropLast(parts[1].count)
    return key.contains("/") ? nil : PercentEncoding.decoded(key)
  }

  private func path(_ relative: String) -> String {
    "\(rootPath)/\(relative.hasPrefix("/") ? String(relative.dropFirst()) : relative)"
  }
}

extension RESTAPI.Collection {
  /// Whether a key has several parts, which are parts of a path too.
  var hasKeysOfParts: Bool { !furtherID.isEmpty || under?.hasKeysWithin == true }

  /// Those parameters of the query whose names say that they are secrets.
  var secretQuery: [String: String] {
    query.filter { name, _ in
      let name = name.lowercased()
      return ["key", "token", "secret", "password", "passwd", "signature"].contains { name.hasSuffix($0) }
    }
  }
}
