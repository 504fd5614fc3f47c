import SyncJSON
import SyncModels

/// What a request is about.
enum ServicePath: Equatable {
  case root, heartbeat, batch, buckets, bucket(String), collections(String), collection(String, String)
  case records(String, String), record(String, String, String), refusals(String, String)

  /// Reads a path without its query; `nil` for one that the API has not.
  init?(_ path: some StringProtocol) {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
      PercentText.decoded($0, plusIsSpace: false)
    }
    if parts.first == "v1" { parts.removeFirst() }
    if parts.count > 1, parts.last == "" { parts.removeLast() }
    let names = parts.compactMap(\.self)
    guard names.count == parts.count, path.hasPrefix("/") else { return nil }
    switch names.count {
    case 0: self = .root
    case 1 where names[0] == "": self = .root
    case 1 where names[0] == "batch": self = .batch
    case 1 where names[0] == "buckets": self = .buckets
    case 1 where ["__heartbeat__", "__lbheartbeat__"].contains(names[0]): self = .heartbeat
    case 2 where names[0] == "buckets": self = .bucket(names[1])
    case 3 where names[0] == "buckets" && names[2] == "collections": self = .collections(names[1])
    case 4 where names[0] == "buckets" && names[2] == "collections": self = .collection(names[1], names[3])
    case 5 where names[0] == "buckets" && names[2] == "collections" && names[4] == "records":
      self = .records(names[1], names[3])
    case 5 where names[0] == "buckets" && names[2] == "collections" && names[4] == "refusals":
      self = .refusals(names[1], names[3])
    case 6
    where names[0] == "buckets" && names[2] == "collections" && names[4] == "records" && names[5] != "":
      self = .record(names[1], names[3], names[5])
    default: return nil
    }
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
      let isPlain =
        (48...57).contains(byte) || (97...122).contains(byte | 0x20) || "-._~".utf8.contains(byte)
      if isPlain {
        result.unicodeScalars.append(UnicodeScalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
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
