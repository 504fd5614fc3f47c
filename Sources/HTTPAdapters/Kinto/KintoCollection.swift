import SyncModels

/// One collection: the addresses of what can be asked of it.
struct KintoCollection: Sendable {
  let type: RecordType
  let bucket: String
  private let address: HTTPAddress

  init(_ type: RecordType, bucket: String, address: HTTPAddress) {
    self.type = type
    self.bucket = bucket
    self.address = address
  }

  /// What is being done, for errors.
  var operation: String { "fetching a page of \(type)" }

  /// The first page of what changed after a time, or of everything.
  func list(since: Int64?, limit: Int) -> HTTPAddress {
    // By id as well: among records of one millisecond, the order has to be the same each time.
    list(query: "_sort=last_modified%2Cid\(since.map { "&_since=\($0)" } ?? "")", limit: limit)
  }

  /// The page that a query leads to, of a size of our own.
  func list(query: String, limit: Int) -> HTTPAddress {
    let kept = query.split(separator: "&").filter { !$0.hasPrefix("_limit=") }
    let limit = min(max(1, limit), KintoServer.largestPage)
    return HTTPAddress(
      address.origin, path: address.path, query: (kept + ["_limit=\(limit)"]).joined(separator: "&"))
  }

  /// What a HEAD is asked of to count the records.
  var count: HTTPAddress { address }

  /// One record.
  func record(_ key: String) -> HTTPAddress {
    HTTPAddress(address.origin, path: "\(address.path)/\(PercentEncoding.encoded(key))")
  }

  /// The query of a page that the server names, which has to be one of this collection at this server.
  func query(ofNextPage text: String) throws(SyncError) -> String {
    guard let next = HTTPAddress(text), next.origin == address.origin, next.path == address.path,
      let query = next.query
    else {
      throw SyncError(
        .invalidResponse, during: operation,
        "The server's next page is not of this collection at \(address.origin); behind a proxy, it has to be told its address."
      )
    }
    return query
  }

  /// Whether a key can stand in a list of keys, whose commas separate and whose quotes enclose.
  static func canBeListed(_ key: String) -> Bool {
    key.utf8.count <= 128
      && key.utf8.allSatisfy {
        $0 > 0x20 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
  }

  /// The query for some records.
  static func query(forKeys keys: [String]) -> String {
    // In quotes, or a key of digits would be a number.
    let list = keys.map { "\"\($0)\"" }.joined(separator: ",")
    return "_sort=last_modified%2Cid&in_id=\(PercentEncoding.encoded(list))"
  }
}
