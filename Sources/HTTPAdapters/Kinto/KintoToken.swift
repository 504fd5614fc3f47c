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
    let parts = token.rawValue.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "kinto1", let etag = Int64(parts[1]), let since = Int64(parts[2]),
      (0...KintoAnswer.latest).contains(etag), (0...etag).contains(since)
    else { return nil }
    self.etag = etag
    self.since = since
    count = KintoAnswer.count(parts[3])
  }

  /// The token as text.
  var syncToken: SyncToken { SyncToken("kinto1:\(etag):\(since):\(count.map(String.init) ?? "")") }
}
