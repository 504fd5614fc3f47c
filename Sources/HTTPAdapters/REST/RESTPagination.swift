import SyncJSON
import SyncModels

/// How the pages of a listing follow each other, and whether they lead on.
struct RESTPagination: Sendable {
  let requests: RESTRequests

  /// The most pages in succession that have no record, or only equal ones without keys.
  static let mostEmptyPages = 1000

  private var collection: RESTAPI.Collection { requests.collection }

  // MARK: Counted pages

  /// Whether a page begins at the last record of the page before.
  ///
  /// If that record is still there, no record has moved past the place between the two pages.
  func overlaps(_ bookmark: RESTBookmark, limit: Int) -> Bool {
    guard case .offset = collection.paging, case .rows(let rows) = bookmark.place, rows > 0 else {
      return false
    }
    return bookmark.ends != nil && (limit > 1 || collection.pageSize == nil)
  }

  /// The request for the page at a place.
  ///
  /// - Parameter limit: The most records. A page at the place may have to have fewer.
  func request(at bookmark: RESTBookmark, atMost limit: Int) -> RESTRequests.Call {
    var (here, limit) = (bookmark, limit)
    if case .rows(let rows) = bookmark.place {
      if case .page = collection.paging {
        // A page begins at a multiple of its size.
        limit = Self.divisor(of: rows, atMost: limit)
      } else if overlaps(bookmark, limit: limit) {
        here.place = .rows(rows - 1)
      }
    }
    return requests.page(at: here, limit: limit)
  }

  private static func divisor(of rows: Int, atMost limit: Int) -> Int {
    (1...max(1, limit)).reversed().first { rows.isMultiple(of: $0) } ?? 1
  }

  // MARK: The next place

  /// The place of the next page; `nil` at the end.
  ///
  /// - Parameters:
  ///   - fresh: The number of records that the page before did not have.
  ///   - bookmark: What is known after this page. It is still at the place before.
  /// - Throws: `invalidResponse` for a place elsewhere, or that was passed before.
  func place(
    after answer: RESTAnswer, fresh: Int, to asked: RESTListing.Asked, _ bookmark: inout RESTBookmark
  ) throws(SyncError) -> RESTBookmark.Place? {
    let place = try following(answer, fresh, asked, bookmark)
    bookmark.empties = answer.rows.isEmpty ? bookmark.empties + 1 : 0
    guard let place else { return nil }
    guard bookmark.empties < Self.mostEmptyPages else {
      throw wrong(
        "\(Counted(bookmark.empties, "page")) in succession are empty, after \(Counted(bookmark.rows, "record")); does \(collection.place("paging")) lead on\(collection.total == nil ? "" : ", and is \(collection.place("total")) right")?"
      )
    }
    try leadOn(to: place, &bookmark)
    return place
  }

  /// Refuses a cycle of pages, of any length.
  ///
  /// Each place is compared with a landmark, which moves on whenever the number of pages has
  /// doubled: R. P. Brent, "An improved Monte Carlo factorization algorithm".
  private func leadOn(
    to place: RESTBookmark.Place, _ bookmark: inout RESTBookmark
  ) throws(SyncError) {
    let text: String
    switch place {
    case .target(let target): text = target
    case .cursor(let cursor): text = cursor
    case .rows, .page: return
    }
    let digest = TokenFields.digest(of: text.utf8)
    guard digest != bookmark.landmark else {
      throw wrong(
        "\(linkPlace) leads back to an earlier page, after \(Counted(bookmark.rows, "record"))."
      )
    }
    if bookmark.pages.nonzeroBitCount == 1 { bookmark.landmark = digest }
  }

  /// Compares the ends of a page, which must not be the page before it again.
  func compare(_ ends: RESTBookmark.Ends?, isOverlapping: Bool, _ bookmark: inout RESTBookmark)
    throws(SyncError)
  {
    guard let ends, let before = bookmark.ends, ends.repeats(before, exactly: !collection.countsPages),
      !(isOverlapping && ends.count == 1)
    else {
      bookmark.ends = ends ?? bookmark.ends
      bookmark.repeats = 0
      return
    }
    // A few records may come again because others were inserted before them.
    guard ends.isNameless || ends.count == 1 || !collection.countsPages,
      bookmark.repeats < (ends.isNameless ? Self.mostEmptyPages : 2)
    else {
      throw wrong(
        "The page after \(Counted(bookmark.rows, "record")) is the page before it again; does \(collection.place("paging")) name a parameter of the API?"
      )
    }
    bookmark.repeats += 1
  }

  private func following(
    _ answer: RESTAnswer, _ fresh: Int, _ asked: RESTListing.Asked, _ bookmark: RESTBookmark
  ) throws(SyncError) -> RESTBookmark.Place? {
    if answer.saysMore == false { return nil }
    switch collection.paging {
    case nil: return nil
    case .link, .next:
      guard let text = answer.next else { return try end(answer) }
      return try goingOn(
        to: .target(try target(of: text, at: linkPlace, from: asked.origin)), after: answer, bookmark)
    case .cursor, .cursorHeader:
      // The changes of CouchDB end with an empty page, whose cursor is its token.
      if answer.rows.isEmpty, collection.cursorIsToken { return nil }
      guard let cursor = answer.next else { return try end(answer) }
      return try goingOn(to: .cursor(cursor), after: answer, bookmark)
    case .after(let pointer, _):
      guard let last = answer.rows.last else { return try end(answer) }
      let value = (try? JSONValueSlice(checking: last, depthLimit: .max)).flatMap { pointer.value(in: $0) }
      guard let cursor = value.flatMap({ $0.string() ?? $0.integer().map(String.init) }), !cursor.isEmpty
      else {
        throw wrong("\(pointer) (\(linkPlace)) leads to nothing in the last record of a page.")
      }
      return .cursor(cursor)
    case .page:
      guard collection.pageSize != nil else {
        let page = if case .page(let page) = bookmark.place { page + 1 } else { 1 }
        return answer.rows.isEmpty && answer.saysMore != true ? nil : .page(page)
      }
      let start = if case .rows(let rows) = bookmark.place { rows } else { 0 }
      let next = start + asked.limit
      if answer.rows.isEmpty {
        return answer.saysMore == true || (answer.total ?? 0) > next ? .rows(next) : nil
      }
      // A short page may be followed by others, unless the total has been reached.
      if answer.rows.count < asked.limit, let total = answer.total, bookmark.rows >= total { return nil }
      return .rows(next)
    case .offset:
      if fresh == 0 { return try end(answer) }
      if collection.pageSize != nil, answer.rows.count < asked.limit, let total = answer.total,
        bookmark.rows >= total
      {
        return nil
      }
      return .rows(bookmark.rows)
    }
  }

  /// The next place. An empty page that leads to itself is the end: some cursors have no other one.
  private func goingOn(
    to place: RESTBookmark.Place, after answer: RESTAnswer, _ bookmark: RESTBookmark
  ) throws(SyncError) -> RESTBookmark.Place? {
    answer.rows.isEmpty && place == bookmark.place ? try end(answer) : place
  }

  /// The end of a list whose last page leads nowhere.
  ///
  /// - Throws: `invalidResponse` if the flag of the description says that pages follow.
  private func end(_ answer: RESTAnswer) throws(SyncError) -> RESTBookmark.Place? {
    guard answer.saysMore == true, let more = collection.more else { return nil }
    throw wrong(
      "\(more.pointer) (\(collection.place("paging.more"))) says that pages follow, and \(linkPlace) leads to none."
    )
  }

  /// The target of an address in an answer, at the base's own origin.
  ///
  /// - Throws: `invalidResponse` for an address elsewhere, unless the description says that such
  ///   addresses are of the base.
  func target(of text: String, at place: String, from address: HTTPAddress) throws(SyncError) -> String {
    guard let next = address.resolving(text) else { throw wrong("\(place) leads to an invalid address.") }
    guard next.origin == requests.base.origin || collection.rebasesLinks else {
      throw wrong("\(place) leads to \(next.origin), which is another origin; nothing was sent there.")
    }
    return requests.target(of: next)
  }

  /// The member that leads to the next page.
  private var linkPlace: String {
    let member =
      switch collection.paging {
      case .link: "paging.link"
      case .cursor, .cursorHeader: "paging.cursor"
      case .after: "paging.after"
      case .offset: "paging.offset"
      default: "paging.next"
      }
    return collection.place(member)
  }

  private func wrong(_ message: String) -> SyncError {
    SyncError(.invalidResponse, during: requests.operation, message)
  }
}

/// The targets of a `Link` header, by relation (RFC 8288).
enum LinkHeader {
  /// The target of the first link with a relation; `nil` for none.
  ///
  /// Relations compare in any case. A link with an anchor is about something else.
  static func target(of relation: String, in header: String) -> String? {
    var rest = Substring(header)
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      let target = rest[rest.index(after: open)..<close]
      rest = rest[rest.index(after: close)...]
      let parameters = parameters(&rest)
      let relations = parameters.first { $0.name == "rel" }?.value.split(separator: " ") ?? []
      if relations.contains(where: { $0.lowercased() == relation.lowercased() }),
        !parameters.contains(where: { $0.name == "anchor" })
      {
        return String(target)
      }
    }
    return nil
  }

  /// Takes the parameters of one link, up to the comma before the next one.
  private static func parameters(_ rest: inout Substring) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    while true {
      skipSpace(&rest)
      guard rest.first == ";" else { break }
      rest.removeFirst()
      skipSpace(&rest)
      let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }.lowercased()
      rest.removeFirst(name.count)
      skipSpace(&rest)
      guard rest.first == "=" else {
        parameters.append((name, ""))
        continue
      }
      rest.removeFirst()
      skipSpace(&rest)
      parameters.append((name, value(&rest)))
    }
    return parameters
  }

  /// Takes a token or a quoted text.
  private static func value(_ rest: inout Substring) -> String {
    guard rest.first == "\"" else {
      let token = rest.prefix { $0 != ";" && $0 != "," && $0 != " " }
      rest.removeFirst(token.count)
      return String(token)
    }
    rest.removeFirst()
    var text = ""
    while let character = rest.popFirst(), character != "\"" {
      if character == "\\", let escaped = rest.popFirst() {
        text.append(escaped)
      } else {
        text.append(character)
      }
    }
    return text
  }

  private static func skipSpace(_ rest: inout Substring) {
    rest = rest.drop { $0 == " " || $0 == "\t" }
  }
}

extension HTTPAddress {
  /// The path and the query.
  var target: String { "\(path)\(query.map { "?\($0)" } ?? "")" }

  /// The values of the query's parameters, as written.
  var parameters: [String: String] {
    var parameters: [String: String] = [:]
    for part in (query ?? "").split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      parameters[String(pair[0])] = pair.count > 1 ? String(pair[1]) : ""
    }
    return parameters
  }

  /// Whether a link from another page leads here by counting pages or records.
  ///
  /// Only parameters with numbers differ, one of which grew by 1 or by the records of the page.
  func counts(from other: HTTPAddress, rows: Int) -> Bool {
    let (mine, before) = (parameters, other.parameters)
    var hasCounted = false
    for name in Set(mine.keys).union(before.keys) where mine[name] != before[name] {
      guard let number = mine[name].flatMap({ Int($0) }) else { return false }
      guard let text = before[name] else {
        // The first page may have no number.
        hasCounted = hasCounted || number <= 2 || number == rows
        continue
      }
      guard let earlier = Int(text) else { return false }
      let (step, overflow) = number.subtractingReportingOverflow(earlier)
      hasCounted = hasCounted || (!overflow && (step == 1 || step == rows))
    }
    return hasCounted
  }
}
