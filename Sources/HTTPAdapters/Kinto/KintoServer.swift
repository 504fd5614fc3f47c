import SyncModels
import SyncPorts

/// One bucket of one server: where it is, and the way to ask it.
struct KintoServer: Sendable {
  let base: HTTPAddress
  let bucket: String
  let clock: any SyncPorts.Clock<Duration>
  let notices: ServerNotices
  private let client: OriginClient

  /// The most records that a server gives at once unless it was set up otherwise.
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
      throw refuse("The server's address is none; it looks like https://settings.example.com/v1.")
    }
    guard base.origin.isSecure || options.allowsPlainHTTP else {
      throw refuse("\(base.origin) is not encrypted; use https, or allow plain HTTP.")
    }
    guard Self.isName(bucket) else {
      throw refuse("A bucket's name is made of letters, digits, hyphens and underscores.")
    }
    guard credentials?.isSendable != false else {
      throw refuse("The credentials hold what no header can.")
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
    // Types are checked when they are declared; a request made by hand could name its way to another address.
    guard Self.isName(type.rawValue) else {
      throw SyncError(
        .invalidConfiguration, during: "fetching a page", "\"\(type)\" is no name of a collection.")
    }
    return KintoCollection(
      type, bucket: bucket,
      address: HTTPAddress(base.origin, path: "\(bucketPath)/collections/\(type)/records"))
  }

  /// The bucket's collections, which are listed as records are.
  var collections: KintoCollection {
    KintoCollection(
      "collections", bucket: bucket, address: HTTPAddress(base.origin, path: "\(bucketPath)/collections"))
  }

  private var rootPath: String { base.path == "/" ? "" : base.path }
  private var bucketPath: String { "\(rootPath)/buckets/\(bucket)" }

  /// Where a record is, seen from the API's root, as a batch names it.
  func pathInAPI(of id: RecordID) throws(SyncError) -> String {
    // Checks the name.
    let type = try collection(id.type).type
    return "/buckets/\(bucket)/collections/\(type)/records/\(PercentEncoding.encoded(id.key))"
  }

  /// The address at which the server says what it is.
  var root: HTTPAddress { HTTPAddress(base.origin, path: "\(rootPath)/") }

  /// The address that takes many requests in one.
  var batch: HTTPAddress { HTTPAddress(base.origin, path: "\(rootPath)/batch") }

  /// Sends a request, unless the server asked for a pause that is not over.
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
