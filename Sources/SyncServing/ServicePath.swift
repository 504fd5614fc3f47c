import SyncModels

/// What a request is about.
struct ServicePath: Equatable {
  enum Resource: Equatable {
    case root, heartbeat, batch, buckets, bucket, collections, collection, records, record(key: String),
      refusals
  }

  let resource: Resource
  /// The bucket, of all that is in one.
  var bucket: String?
  /// The collection, of all that is in one.
  var type: RecordType?

  static let changes = ServicePath("/buckets/monitor/collections/changes/records")

  /// Reads a path without its query; `nil` for one that the API has not.
  init?(_ path: some StringProtocol) {
    guard path.hasPrefix("/") else { return nil }
    var names: [String] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let name = PercentText.decoded(part, plusIsSpace: false) else { return nil }
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
    case (5, "records") where isInBuckets: resource = .records
    case (5, "refusals") where isInBuckets: resource = .refusals
    case (6, "records") where isInBuckets: resource = .record(key: names[5])
    default: return nil
    }
    if names.count > 1 { bucket = names[1] }
    if names.count > 3 { type = RecordType(names[3]) }
  }
}

/// Percent-encoded text of addresses.
enum PercentText {
  /// The text; `nil` if it is not UTF-8 in a valid encoding.
  static func decoded(_ text: some StringProtocol, plusIsSpace: Bool) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        else { return nil }
        rest = rest.dropFirst(2)
        bytes.append(value)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      if RecordJSON.isAlphanumeric(byte) || "-._~".utf8.contains(byte) {
        result.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }

  /// The names and values of a query, in order.
  static func query(_ text: some StringProtocol) throws(SyncError) -> [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    for part in text.split(separator: "&") {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(halves[0], plusIsSpace: true),
        let value = halves.count == 2 ? decoded(halves[1], plusIsSpace: true) : ""
      else { throw Refusal(400, 107, "The query is not percent-encoded UTF-8.").error }
      pairs.append((name, value))
    }
    return pairs
  }
}
