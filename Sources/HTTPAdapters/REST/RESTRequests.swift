import SyncModels

/// The requests for the lists and records of one collection.
struct RESTRequests: Sendable {
  let collection: RESTAPI.Collection
  let base: HTTPAddress
  let rootPath: String
  /// The parameter of the query that holds the credentials, which are added as a request is sent.
  var keyParameter: String?

  /// The operation, for errors.
  var operation: String { "fetching a page of \(collection.entity.type)" }

  /// The number of records to ask for, of those that the engine wants.
  func size(_ limit: Int) -> Int { max(1, min(limit, collection.pageSize?.maximum ?? limit)) }

  /// The first page since a token, or of everything.
  func first(_ start: RESTToken?, limit: Int) -> HTTPAddress {
    list(start, limit: limit, place: .rows(0))
  }

  /// The page at a place.
  func page(at bookmark: RESTBookmark, limit: Int) -> HTTPAddress {
    list(bookmark.base, limit: limit, place: bookmark.place)
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

  private func list(_ start: RESTToken?, limit: Int, place: RESTBookmark.Place) -> HTTPAddress {
    if case .target(let target) = place { return address(target) }
    // The address is whole, and the parameters are in it.
    if case .next = collection.delta, case .token(let target)? = start?.start { return address(target) }
    var items = collection.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    switch (collection.delta, start?.start) {
    case (.since(let name, let format, let overlap, _), .since(let time)):
      items.append((name, format.text(time - overlap)))
    case (.token(_, let name), .token(let token)): items.append((name, token))
    default: break
    }
    switch (collection.paging, place) {
    case (.cursor(_, let name), .cursor(let cursor)): items.append((name, cursor))
    case (.page(let name, let first), .rows(let rows)):
      items.append((name, "\(first + rows / max(1, limit))"))
    case (.page(let name, let first), .page(let page)): items.append((name, "\(first + page)"))
    case (.offset(let name), .rows(let rows)): items.append((name, "\(rows)"))
    default: break
    }
    if let size = collection.pageSize { items.append((size.parameter, "\(limit)")) }
    let query = items.map { "\(PercentEncoding.encoded($0.0))=\(PercentEncoding.encoded($0.1))" }
    return HTTPAddress(
      base.origin, path: path(collection.path), query: query.isEmpty ? nil : query.joined(separator: "&"))
  }

  /// The address of one record; `nil` for a key that no path can hold.
  func record(_ key: String, path template: String) -> HTTPAddress? {
    // A dot would be resolved on the way, and lead to another address.
    guard key != ".", key != "..", !key.isEmpty else { return nil }
    return HTTPAddress(
      base.origin,
      path: path(template.replacing(RESTAPI.keyMark, with: PercentEncoding.encoded(key))))
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
  /// Those parameters of the query whose names say that they are secrets.
  var secretQuery: [String: String] {
    query.filter { name, _ in
      let name = name.lowercased()
      return ["key", "token", "secret", "password", "passwd", "signature"].contains { name.hasSuffix($0) }
    }
  }
}

extension RESTAPI.TimeFormat {
  /// A time in this format, rounded down.
  func text(_ time: Timestamp) -> String {
    let microseconds = max(0, time.microseconds)
    return switch self {
    case .rfc3339: Timestamp(microseconds: microseconds).rfc3339
    case .seconds: "\(microseconds / 1_000_000)"
    case .milliseconds: "\(microseconds / 1000)"
    }
  }
}
