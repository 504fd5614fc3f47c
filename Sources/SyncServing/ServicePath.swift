import SyncModels

/// What a request is about.
struct ServicePath {
  enum Resource: Equatable {
    case root, heartbeat, batch, changes, buckets, bucket, collections, collection, records
    case record(key: String), refusals
  }

  let resource: Resource
  /// The bucket, of all that is in one.
  var bucket: String?
  /// The collection, of all that is in one.
  var type: RecordType?

  /// Reads a path without its query; `nil` for one that the API has not.
  init?(_ path: some StringProtocol) {
    guard path.hasPrefix("/") else { return nil }
    var names: [String] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let name = String(percentEncoded: part) else { return nil }
      names.append(name)
    }
    if names.first == "v1" { names.removeFirst() }
    if names.last == "" { names.removeLast() }
    let isInBuckets = names.first == "buckets" && (names.count < 3 || names[2] == "collections")
    switch (names.count, names.count > 4 ? names[4] : names.first) {
    case (0, _): resource = .root
    case (1, "batch"): resource = .batch
    case (1, "__heartbeat__"), (1, "__lbheartbeat__"): resource = .heartbeat
    case (1, _) where isInBuckets: resource = .buckets
    case (2, _) where isInBuckets: resource = .bucket
    case (3, _) where isInBuckets: resource = .collections
    case (4, _) where isInBuckets: resource = .collection
    case (5, "records") where isInBuckets:
      resource = names[1] == "monitor" && names[3] == "changes" ? .changes : .records
    case (5, "refusals") where isInBuckets: resource = .refusals
    case (6, "records") where isInBuckets: resource = .record(key: names[5])
    default: return nil
    }
    if names.count > 1 { bucket = names[1] }
    if names.count > 3 { type = RecordType(names[3]) }
  }
}

extension ServicePath {
  /// The names and values of a query, in order.
  static func query(_ text: some StringProtocol) throws(SyncError) -> [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    for part in text.split(separator: "&") {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { String(percentEncoded: String($0).replacing("+", with: " ")) }
      guard let name = halves[0], let value = halves.count == 2 ? halves[1] : "" else {
        throw Refusal(400, "The query is not percent-encoded UTF-8.").error
      }
      pairs.append((name, value))
    }
    return pairs
  }
}
