import SyncModels

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
    let parts = token.rawValue.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 9, parts[0] == "kinto1",
      let coverage = RecordPage.Coverage(rawValue: String(parts[1])), let etag = Int64(parts[2]),
      let tombstones = KintoAnswer.count(parts[5]), let key = PercentEncoding.decoded(parts[7]),
      HTTPAddress("https://host/?\(parts[8])") != nil
    else { return nil }
    self.init(coverage: coverage, etag: etag, expected: KintoAnswer.count(parts[3]))
    count = KintoAnswer.count(parts[4])
    self.tombstones = tombstones
    last = Int64(parts[6]).map { Place(modified: $0, key: key) }
    query = String(parts[8])
  }

  /// The bookmark as a page token.
  var pageToken: PageToken {
    func text(_ number: Int?) -> String { number.map(String.init) ?? "" }
    let parts = [
      "kinto1", coverage.rawValue, "\(etag)", text(expected), text(count), "\(tombstones)",
      last.map { "\($0.modified)" } ?? "", last.map { PercentEncoding.encoded($0.key) } ?? "", query,
    ]
    return PageToken(parts.joined(separator: " "))
  }
}
