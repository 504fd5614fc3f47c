import SyncModels

/// Where the next delta of a collection starts, as ``SyncToken`` keeps it.
struct KintoToken: Hashable, Sendable {
  /// The collection's `ETag` when the pass began, in milliseconds.
  let etag: Int64
  /// What changed after this belongs to the delta.
  let since: Int64
  /// How many records the collection held then, where that is known.
  let count: Int?

  /// Whether the delta does not reach back, because everything up to the `ETag` was visible.
  var isExact: Bool { since == etag }

  /// The place that an `ETag` names, less an overlap.
  init(etag: Int64, overlap: Duration, count: Int?) {
    self.etag = etag
    since = max(0, etag - overlap.wholeMicroseconds / 1000)
    self.count = count
  }

  /// Reads what ``syncToken`` wrote; `nil` for anything else.
  init?(_ token: SyncToken) {
    let parts = token.rawValue.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "kinto1", let etag = Int64(parts[1]), let since = Int64(parts[2]),
      (0...KintoAnswer.latest).contains(etag), (0...etag).contains(since)
    else { return nil }
    self.etag = etag
    self.since = since
    count = KintoAnswer.count(parts[3])
  }

  /// The place as text.
  var syncToken: SyncToken { SyncToken("kinto1:\(etag):\(since):\(count.map(String.init) ?? "")") }
}
