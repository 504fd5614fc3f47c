import SyncModels

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
  /// The number of pages and of records so far.
  var pages = 0
  var rows = 0
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

  /// Parses a ``pageToken``; `nil` for any other text.
  init?(_ token: PageToken) {
    guard let fields = RESTFields(token.rawValue), fields.name == "rest1page",
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
    (isShifting, hasMoved) = (fields["shifting"] != nil, fields["moved"] != nil)
    if let first = fields["first"], let last = fields["last"], let count = fields.count("count") {
      ends = Ends(first: first, last: last, count: count, content: fields["content"] ?? "")
    }
    repeats = fields.count("repeats") ?? 0
    empties = fields.count("empties") ?? 0
    landmark = fields["landmark"]
    confirms = fields["confirms"]
    tagged = fields["tagged"].flatMap(RESTToken.pages)
  }

  /// The bookmark as a page token.
  var pageToken: PageToken {
    var fields = RESTFields(named: "rest1page")
    fields["coverage"] = coverage.rawValue
    fields["next"] = candidate.text
    fields["base"] = base?.text
    switch place {
    case .target(let target): fields["target"] = target
    case .cursor(let cursor): fields["cursor"] = cursor
    case .rows(let rows): fields["skip"] = "\(rows)"
    case .page(let page): fields["page"] = "\(page)"
    }
    fields["pages"] = "\(pages)"
    fields["rows"] = "\(rows)"
    fields["total"] = total.map { "\($0)" }
    if isShifting { fields["shifting"] = "1" }
    if hasMoved { fields["moved"] = "1" }
    fields["first"] = ends?.first
    fields["last"] = ends?.last
    fields["count"] = ends.map { "\($0.count)" }
    fields["content"] = ends?.content
    fields["confirms"] = confirms
    if repeats > 0 { fields["repeats"] = "\(repeats)" }
    if empties > 0 { fields["empties"] = "\(empties)" }
    fields["landmark"] = landmark
    fields["tagged"] = tagged.map(RESTToken.text)
    return PageToken(fields.text)
  }
}

extension RESTFields {
  /// A number of records or pages; `nil` for one that no listing has.
  fileprivate func count(_ name: String) -> Int? {
    self[name].flatMap { Int($0) }.flatMap { (0...RESTAnswer.mostRecords).contains($0) ? $0 : nil }
  }
}
