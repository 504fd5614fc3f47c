import SyncModels

/// The start of a collection's next delta, stored in a ``SyncToken``.
struct RESTToken: Hashable, Sendable {
  /// Where the next delta starts.
  enum Start: Hashable, Sendable {
    /// Nowhere: everything is listed each time.
    case list
    /// After a time of the server.
    case since(Timestamp)
    /// At a token of the server.
    case token(String)
    /// At the tags of all pages, in order.
    case pages([Page])
    /// At a position of our own store: of lists under records, those are asked for whose records have
    /// changed since.
    case position(Int64)
  }

  /// A page of a listing, with its tag.
  struct Page: Hashable, Sendable {
    /// The path and the query.
    var target: String
    /// The tag; `nil` for the place where a 404 ended the listing.
    var tag: String?
  }

  var start: Start
  /// When the last complete listing began, by this machine's clock.
  var listedAt: Timestamp
  /// Whether records may have been missed, so that everything has to be listed again.
  var relists = false

  init(_ start: Start, listedAt: Timestamp) {
    self.start = start
    self.listedAt = listedAt
  }

  /// Parses a ``syncToken``; `nil` for any other text.
  init?(_ token: SyncToken) { self.init(token.rawValue) }

  init?(_ text: String) {
    guard let fields = TokenFields(text, named: "rest1"),
      let listedAt = fields["at"].flatMap({ Int64($0) })
    else { return nil }
    let value = fields["value"] ?? ""
    switch fields["start"] {
    case "list": start = .list
    case "since":
      guard let time = Int64(value) else { return nil }
      start = .since(Timestamp(microseconds: time))
    case "token": start = .token(value)
    case "pages":
      guard let pages = Self.pages(value) else { return nil }
      start = .pages(pages)
    case "position":
      guard let position = Int64(value) else { return nil }
      start = .position(position)
    default: return nil
    }
    self.listedAt = Timestamp(microseconds: listedAt)
    relists = fields[mark: "relists"]
  }

  /// The token as text.
  var text: String {
    var fields = TokenFields(named: "rest1")
    fields["at"] = "\(listedAt.microseconds)"
    fields[mark: "relists"] = relists
    switch start {
    case .list: fields["start"] = "list"
    case .since(let time):
      fields["start"] = "since"
      fields["value"] = "\(time.microseconds)"
    case .token(let token):
      fields["start"] = "token"
      fields["value"] = token
    case .pages(let pages):
      fields["start"] = "pages"
      fields["value"] = Self.text(of: pages)
    case .position(let position):
      fields["start"] = "position"
      fields["value"] = "\(position)"
    }
    return fields.text
  }

  var syncToken: SyncToken { SyncToken(text) }

  /// A short text that differs for pages with other tags.
  static func digest(of pages: [Page]) -> String { TokenFields.digest(of: text(of: pages).utf8) }

  static func text(of pages: [Page]) -> String {
    pages.map { "\(PercentEncoding.encoded($0.target)),\(PercentEncoding.encoded($0.tag ?? ""))" }
      .joined(separator: ";")
  }

  static func pages(_ text: String) -> [Page]? {
    var pages: [Page] = []
    for part in text.split(separator: ";") {
      let pair = part.split(separator: ",", omittingEmptySubsequences: false)
      guard pair.count == 2, let target = PercentEncoding.decoded(pair[0]),
        let tag = PercentEncoding.decoded(pair[1])
      else { return nil }
      pages.append(Page(target: target, tag: tag.isEmpty ? nil : tag))
    }
    return pages
  }
}

/// The position of a pass between two pages, stored in a ``PageToken``.
struct RESTBookmark: Hashable, Sendable {
  /// Where the next page begins.
  enum Place: Hashable, Sendable {
    /// At an address, as the server gave it: a path and a query.
    case target(String)
    /// At a cursor.
    case cursor(String)
    /// After so many records.
    case rows(Int)
    /// At a page, counted from 0, of an API whose pages have its own size.
    case page(Int)
  }

  let coverage: RecordPage.Coverage
  /// The token that the pass started from; `nil` for a complete listing.
  let base: RESTToken?
  /// The start of the next delta, as the first page gave it.
  var candidate: RESTToken
  var place: Place
  /// The list that the page is of, where the type has several.
  var segment = RESTSegment()
  /// The number of pages and of records so far, in this list.
  var pages = 0
  var rows = 0
  /// The number of records that came again.
  var repeated = 0
  /// The number of records in all, as the first page gave it.
  var total: Int?
  /// Whether pages are counted, so that a change may move a record past them.
  var isShifting = false
  /// Whether the collection is known to have moved during the pass.
  var hasMoved = false
  /// The ends of the last page that had any.
  var ends: Ends?
  /// The tags of the listing that this one confirms, digested; `nil` if it confirms none.
  var confirms: String?
  /// How often in succession a page was the page before it again.
  var repeats = 0
  /// How many pages in succession were empty.
  var empties = 0
  /// A place of before, digested. A listing that returns to it never ends.
  var landmark: String?
  /// The pages so far; `nil` if a tag is missing, or they are too many.
  var tagged: [RESTToken.Page]?

  /// The names of a page's first and last record, and its number of records.
  struct Ends: Hashable, Sendable {
    var first: String
    var last: String
    var count: Int
    /// The first and the last record, digested.
    var content = ""

    /// What the name of a record without a key begins with.
    static let namelessPrefix = "without a key: "

    /// Whether neither end has a key, so that other records may have the same names.
    var isNameless: Bool { first.hasPrefix(Self.namelessPrefix) && last.hasPrefix(Self.namelessPrefix) }

    /// Whether this page is another one again.
    ///
    /// - Parameter exactly: Whether the records have to be in the same state too.
    func repeats(_ other: Ends, exactly: Bool) -> Bool {
      first == other.first && last == other.last && count == other.count
        && (!exactly || content == other.content)
    }
  }

  init(coverage: RecordPage.Coverage, base: RESTToken?, candidate: RESTToken) {
    self.coverage = coverage
    self.base = base
    self.candidate = candidate
    place = .rows(0)
  }

  /// The beginning of another list of the pass.
  func beginning(_ segment: RESTSegment) -> RESTBookmark {
    var next = RESTBookmark(coverage: coverage, base: base, candidate: candidate)
    (next.segment, next.isShifting) = (segment, isShifting)
    return next
  }

  /// Parses a ``pageToken``; `nil` for any other text.
  init?(_ token: PageToken) {
    guard let fields = TokenFields(token.rawValue, named: "rest1page"),
      let coverage = fields["coverage"].flatMap(RecordPage.Coverage.init),
      let candidate = fields["next"].flatMap({ RESTToken($0) }),
      let pages = fields.count("pages"), let rows = fields.count("rows")
    else { return nil }
    let base = fields["base"].map { RESTToken($0) }
    if case .some(.none) = base { return nil }
    self.init(coverage: coverage, base: base ?? nil, candidate: candidate)
    if let target = fields["target"] {
      place = .target(target)
    } else if let cursor = fields["cursor"] {
      place = .cursor(cursor)
    } else if let skip = fields.count("skip") {
      place = .rows(skip)
    } else if let page = fields.count("page") {
      place = .page(page)
    } else {
      return nil
    }
    (self.pages, self.rows, total) = (pages, rows, fields.count("total"))
    (isShifting, hasMoved) = (fields[mark: "shifting"], fields[mark: "moved"])
    if let first = fields["first"], let last = fields["last"], let count = fields.count("count") {
      ends = Ends(first: first, last: last, count: count, content: fields["content"] ?? "")
    }
    segment.each = fields.count("each") ?? 0
    segment.from = fields["from"].flatMap { Int64($0) }.map { Timestamp(microseconds: $0) }
    segment.parent = fields["parent"]
    repeated = fields.count("repeated") ?? 0
    repeats = fields.count("repeats") ?? 0
    empties = fields.count("empties") ?? 0
    landmark = fields["landmark"]
    confirms = fields["confirms"]
    tagged = fields["tagged"].flatMap(RESTToken.pages)
  }

  /// The bookmark as a page token.
  var pageToken: PageToken {
    var fields = TokenFields(named: "rest1page")
    fields["coverage"] = coverage.rawValue
    fields["next"] = candidate.text
    fields["base"] = base?.text
    switch place {
    case .target(let target): fields["target"] = target
    case .cursor(let cursor): fields["cursor"] = cursor
    case .rows(let rows): fields["skip"] = "\(rows)"
    case .page(let page): fields["page"] = "\(page)"
    }
    if segment.each > 0 { fields["each"] = "\(segment.each)" }
    fields["from"] = segment.from.map { "\($0.microseconds)" }
    fields["parent"] = segment.parent
    fields[number: "pages"] = pages
    fields[number: "rows"] = rows
    fields[number: "total"] = total
    fields[number: "repeated"] = repeated == 0 ? nil : repeated
    fields[mark: "shifting"] = isShifting
    fields[mark: "moved"] = hasMoved
    fields["first"] = ends?.first
    fields["last"] = ends?.last
    fields[number: "count"] = ends?.count
    fields["content"] = ends?.content
    fields["confirms"] = confirms
    if repeats > 0 { fields["repeats"] = "\(repeats)" }
    if empties > 0 { fields["empties"] = "\(empties)" }
    fields["landmark"] = landmark
    fields["tagged"] = tagged.map(RESTToken.text)
    return PageToken(fields.text)
  }
}

extension TokenFields {
  /// A number of records or pages; `nil` for one that no listing has.
  fileprivate func count(_ name: String) -> Int? {
    self[number: name].flatMap { (0...RESTAnswer.mostRecords).contains($0) ? $0 : nil }
  }
}

/// A place among tagged pages; those before it have not changed.
struct RESTTagWalk: Hashable, Sendable {
  let token: RESTToken
  let index: Int
  /// The page at this place.
  let page: RESTToken.Page

  /// - Precondition: The token has so many pages.
  init(_ token: RESTToken, at index: Int) {
    guard case .pages(let pages) = token.start else { preconditionFailure("not a token of pages") }
    self.token = token
    self.index = index
    page = pages[index]
  }

  /// Parses a ``pageToken``; `nil` for any other text.
  init?(_ pageToken: PageToken) {
    guard let fields = TokenFields(pageToken.rawValue, named: "rest1walk"),
      let token = fields["token"].flatMap({ RESTToken($0) }),
      let index = fields["index"].flatMap({ Int($0) }),
      case .pages(let pages) = token.start, pages.indices.contains(index)
    else { return nil }
    self.init(token, at: index)
  }

  /// The place after this one; `nil` at the end.
  var next: RESTTagWalk? {
    guard case .pages(let pages) = token.start, pages.indices.contains(index + 1) else { return nil }
    return RESTTagWalk(token, at: index + 1)
  }

  var pageToken: PageToken {
    var fields = TokenFields(named: "rest1walk")
    fields["token"] = token.text
    fields["index"] = "\(index)"
    return PageToken(fields.text)
  }
}
