import HTTPAdapters
import SyncModels
import SyncPorts

/// One bucket of one server: its address, and the client for its requests.
struct KintoServer: Sendable {
  let session: HTTPSession
  let bucket: String

  /// The default limit of a Kinto server on the records of one page.
  static let largestPage = 10_000

  init(
    _ server: String, bucket: String, credentials: HTTPCredentials?, options: KintoSource.Options,
    transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>,
    onAlert: @escaping @Sendable (String) -> Void
  ) throws(SyncError) {
    let operation = "preparing to read a Kinto server"
    var settings = HTTPSession.Options()
    settings.deadline = options.deadline
    settings.bodyLimit = options.bodyLimit
    settings.plainHTTP = options.allowsPlainHTTP ? .everywhere : .refused
    session = try HTTPSession(
      server, like: "https://settings.example.com/v1", authorization: credentials, options: settings,
      transport: transport, clock: clock, onAlert: onAlert, during: operation)
    guard Self.isName(bucket) else {
      throw SyncError(
        .invalidConfiguration, during: operation,
        "A bucket's name is made of letters, digits, hyphens and underscores.")
    }
    guard options.overlap > .zero else {
      throw SyncError(
        .invalidConfiguration, during: operation, "The overlap has to be greater than zero.")
    }
    self.bucket = bucket
  }

  /// The collection of a type.
  func collection(_ type: RecordType) throws(SyncError) -> KintoCollection {
    // Declaring a type checks its name. A hand-made request could contain a name that leads to
    // another address.
    guard Self.isName(type.rawValue) else {
      throw SyncError(
        .invalidConfiguration, during: "fetching a page", "\"\(type)\" is not a valid collection name.")
    }
    return KintoCollection(
      type, bucket: bucket,
      address: HTTPAddress(base.origin, path: "\(bucketPath)/collections/\(type)/records"))
  }

  /// The bucket's list of collections, which is read like a collection.
  var collections: KintoCollection {
    KintoCollection(
      "collections", bucket: bucket, address: HTTPAddress(base.origin, path: "\(bucketPath)/collections"))
  }

  private var base: HTTPAddress { session.base }
  private var bucketPath: String { "\(session.rootPath)/buckets/\(bucket)" }

  /// The path of a record from the API's root, as a batch names it.
  func pathInAPI(of id: RecordID) throws(SyncError) -> String {
    // This call checks the name.
    let type = try collection(id.type).type
    return "/buckets/\(bucket)/collections/\(type)/records/\(PercentEncoding.encoded(id.key))"
  }

  /// The address of the server's description of itself.
  var root: HTTPAddress { HTTPAddress(base.origin, path: "\(session.rootPath)/") }

  /// The latest timestamps of the bucket's collections.
  var changes: HTTPAddress {
    HTTPAddress(
      base.origin, path: "\(session.rootPath)/buckets/monitor/collections/changes/records",
      query: "bucket=\(bucket)")
  }

  /// The address of the batch endpoint.
  var batch: HTTPAddress { HTTPAddress(base.origin, path: "\(session.rootPath)/batch") }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
          || byte == UInt8(ascii: "_")
      }
  }
}

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
