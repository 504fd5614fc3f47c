import HTTPAdapters
import SyncModels

/// The start of a collection's next delta, stored in a ``SyncToken``.
struct KintoToken: Hashable, Sendable {
  /// The collection's `ETag` when the pass began, in milliseconds.
  let etag: Int64
  /// The time after which changes belong to the delta.
  let since: Int64
  /// The number of records in the collection at that time, if known.
  let count: Int?

  /// Whether the delta does not reach back, because everything up to the `ETag` was visible.
  var isExact: Bool { since == etag }

  /// Creates the token for an `ETag`, less an overlap.
  init(etag: Int64, overlap: Duration, count: Int?) {
    self.etag = etag
    since = max(0, etag - overlap.wholeMicroseconds / 1000)
    self.count = count
  }

  /// Parses a ``syncToken``; `nil` for any other text.
  init?(_ token: SyncToken) {
    guard let fields = TokenFields(token.rawValue, named: "kinto1"), let etag = fields[milliseconds: "etag"],
      let since = fields[milliseconds: "since"], since <= etag
    else { return nil }
    (self.etag, self.since, count) = (etag, since, KintoAnswer.count(fields["count"]))
  }

  /// The token as text.
  var syncToken: SyncToken {
    var fields = TokenFields(named: "kinto1")
    (fields[milliseconds: "etag"], fields[milliseconds: "since"]) = (etag, since)
    fields[number: "count"] = count
    return SyncToken(fields.text)
  }
}

/// The position of a pass between two pages, stored in a ``PageToken``.
///
/// Any process can resume from it.
struct KintoBookmark: Hashable, Sendable {
  /// The position of a listing.
  struct Place: Hashable, Sendable {
    var modified: Int64
    var key: String
  }

  let coverage: RecordPage.Coverage
  /// The collection's `ETag` on the first page.
  let etag: Int64
  /// The number of records in the collection when the previous delta began.
  let expected: Int?
  /// The number of records when this pass began.
  var count: Int?
  /// The number of tombstones that the pass has listed so far.
  var tombstones = 0
  /// The last record listed.
  var last: Place?
  /// The server's query for the next page.
  var query = ""

  init(coverage: RecordPage.Coverage, etag: Int64, expected: Int?) {
    self.coverage = coverage
    self.etag = etag
    self.expected = expected
  }

  /// Parses a ``pageToken``; `nil` for any other text.
  init?(_ token: PageToken) {
    guard let fields = TokenFields(token.rawValue, named: "kinto1page"),
      let coverage = fields["coverage"].flatMap(RecordPage.Coverage.init),
      let etag = fields[milliseconds: "etag"],
      let query = fields["query"], HTTPAddress("https://host/?\(query)") != nil
    else { return nil }
    self.init(coverage: coverage, etag: etag, expected: KintoAnswer.count(fields["expected"]))
    count = KintoAnswer.count(fields["count"])
    tombstones = KintoAnswer.count(fields["tombstones"]) ?? 0
    if let modified = fields[milliseconds: "modified"], let key = fields["key"] {
      last = Place(modified: modified, key: key)
    }
    self.query = query
  }

  /// The bookmark as a page token.
  var pageToken: PageToken {
    var fields = TokenFields(named: "kinto1page")
    fields["coverage"] = coverage.rawValue
    fields[milliseconds: "etag"] = etag
    (fields[number: "expected"], fields[number: "count"]) = (expected, count)
    fields[number: "tombstones"] = tombstones
    (fields[milliseconds: "modified"], fields["key"]) = (last?.modified, last?.key)
    fields["query"] = query
    return PageToken(fields.text)
  }
}
