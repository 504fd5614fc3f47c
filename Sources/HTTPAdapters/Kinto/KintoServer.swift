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
