import SyncModels
import SyncPorts

/// One bucket of one server: its address, and the client for its requests.
struct KintoServer: Sendable {
  let base: HTTPAddress
  let bucket: String
  let clock: any SyncPorts.Clock<Duration>
  let notices: ServerNotices
  private let client: OriginClient

  /// The default limit of a Kinto server on the records of one page.
  static let largestPage = 10_000

  init(
    _ server: String, bucket: String, credentials: HTTPCredentials?, options: KintoSource.Options,
    transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>, notices: ServerNotices
  ) throws(SyncError) {
    func refuse(_ message: String) -> SyncError {
      SyncError(.invalidConfiguration, during: "preparing to read a Kinto server", message)
    }
    let trimmed = server.hasSuffix("/") ? String(server.dropLast()) : server
    guard let base = HTTPAddress(trimmed), base.query == nil else {
      throw refuse("The server's address is invalid. A valid one looks like https://settings.example.com/v1.")
    }
    guard base.origin.isSecure || options.allowsPlainHTTP else {
      throw refuse("\(base.origin) is not encrypted; use https, or allow plain HTTP.")
    }
    guard Self.isName(bucket) else {
      throw refuse("A bucket's name is made of letters, digits, hyphens and underscores.")
    }
    guard credentials?.isSendable != false else {
      throw refuse("The credentials contain a character that a header cannot hold.")
    }
    guard options.overlap > .zero else { throw refuse("The overlap has to be greater than zero.") }
    self.base = base
    self.bucket = bucket
    self.clock = clock
    self.notices = notices
    client = OriginClient(
      origin: base.origin, credentials: credentials, transport: transport, deadline: options.deadline,
      bodyLimit: max(0, options.bodyLimit))
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

  private var rootPath: String { base.path == "/" ? "" : base.path }
  private var bucketPath: String { "\(rootPath)/buckets/\(bucket)" }

  /// The path of a record from the API's root, as a batch names it.
  func pathInAPI(of id: RecordID) throws(SyncError) -> String {
    // This call checks the name.
    let type = try collection(id.type).type
    return "/buckets/\(bucket)/collections/\(type)/records/\(PercentEncoding.encoded(id.key))"
  }

  /// The address of the server's description of itself.
  var root: HTTPAddress { HTTPAddress(base.origin, path: "\(rootPath)/") }

  /// The address of the batch endpoint.
  var batch: HTTPAddress { HTTPAddress(base.origin, path: "\(rootPath)/batch") }

  /// Sends a request, unless a pause that the server asked for is not over.
  func ask(
    _ method: String, _ address: HTTPAddress, headers: HTTPHeaders = [:], body: [UInt8] = [],
    repeatsSafely: Bool = false, isAboutEdits: Bool = false, during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    if let pause = notices.remainingPause {
      throw SyncError(
        .remoteUnavailable, during: operation, "The server asked for a pause, which is not over.",
        retryAfter: pause)
    }
    let response = try await client.send(
      method, address, headers: headers, body: body, repeatsSafely: repeatsSafely, during: operation)
    notices.take(response, isAboutEdits: isAboutEdits)
    return response
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
          || byte == UInt8(ascii: "_")
      }
  }
}
