import SyncModels

/// One collection, and the addresses of its requests.
struct KintoCollection: Sendable {
  let type: RecordType
  let bucket: String
  private let address: HTTPAddress

  init(_ type: RecordType, bucket: String, address: HTTPAddress) {
    self.type = type
    self.bucket = bucket
    self.address = address
  }

  /// The operation, for errors.
  var operation: String { "fetching a page of \(type)" }

  /// The first page of the changes after a time, or of everything.
  func list(since: Int64?, limit: Int) -> HTTPAddress {
    // Sorted by id as well: records of one millisecond need a stable order.
    list(query: "_sort=last_modified%2Cid\(since.map { "&_since=\($0)" } ?? "")", limit: limit)
  }

  /// The page for a query, with our own page size.
  func list(query: String, limit: Int) -> HTTPAddress {
    let kept = query.split(separator: "&").filter { !$0.hasPrefix("_limit=") }
    let limit = min(max(1, limit), KintoServer.largestPage)
    return HTTPAddress(
      address.origin, path: address.path, query: (kept + ["_limit=\(limit)"]).joined(separator: "&"))
  }

  /// The address of a HEAD request that counts the records.
  var count: HTTPAddress { address }

  /// The address of one record.
  func record(_ key: String) -> HTTPAddress {
    HTTPAddress(address.origin, path: "\(address.path)/\(PercentEncoding.encoded(key))")
  }

  /// The query of the next page that the server names.
  ///
  /// The page must be one of this collection at this server.
  func query(ofNextPage text: String) throws(SyncError) -> String {
    guard let next = HTTPAddress(text), next.origin == address.origin, next.path == address.path,
      let query = next.query
    else {
      throw SyncError(
        .invalidResponse, during: operation,
        "The server's next page is not of this collection at \(address.origin); behind a proxy, the server needs its public address in its settings."
      )
    }
    return query
  }

  /// Whether a list of keys can hold a key.
  ///
  /// Commas separate the keys of a list, and quotes enclose them.
  static func canBeListed(_ key: String) -> Bool {
    key.utf8.count <= 128
      && key.utf8.allSatisfy {
        $0 > 0x20 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
  }

  /// The query for the records with these keys.
  static func query(forKeys keys: [String]) -> String {
    // Quoted: a bare key of digits would be a number.
    let list = keys.map { "\"\($0)\"" }.joined(separator: ",")
    return "_sort=last_modified%2Cid&in_id=\(PercentEncoding.encoded(list))"
  }
}
