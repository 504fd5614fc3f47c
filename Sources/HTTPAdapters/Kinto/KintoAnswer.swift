import SyncJSON
import SyncModels

/// A page as the server answered it, or the error that its status means.
struct KintoAnswer: Sendable {
  /// When the collection last changed, in milliseconds.
  let etag: Int64
  let body: [UInt8]
  let nextPage: String?
  let total: Int?
  private let date: Timestamp?

  /// The last millisecond of the year 9999. A later number is not a time.
  static let latest = Timestamp.endOfYear9999.microseconds / 1000

  init(_ response: HTTPResponse, of collection: KintoCollection) throws(SyncError) {
    guard response.status == 200 else { throw Self.failure(response, of: collection) }
    guard let etag = response.headers["ETag"].flatMap(Self.milliseconds) else {
      throw SyncError(
        .invalidResponse, during: collection.operation,
        "The answer has no ETag of a Kinto server; does the address end with the version, as in /v1?")
    }
    self.etag = etag
    body = response.body
    nextPage = response.headers["Next-Page"]
    total = (response.headers["Total-Objects"] ?? response.headers["Total-Records"]).flatMap(Self.count)
    date = response.headers["Date"].flatMap(HTTPDate.timestamp)
  }

  /// Whether everything up to the `ETag` was visible when the server read the collection.
  ///
  /// That is so if, by the server's clock, the overlap was over before the request was sent. The
  /// overlap counts twice: the clock that writes `Date` may be another machine's than the one that
  /// stamps records.
  func isSettled(overlap: Duration, elapsed: Duration) -> Bool {
    guard let date else { return false }
    return date - elapsed > Timestamp(milliseconds: etag) + overlap + overlap
  }

  /// Reads a number of records from an answer or a token.
  ///
  /// `nil` for a number that no collection holds, so that sums of such numbers need no check.
  static func count(_ text: some StringProtocol) -> Int? {
    Int(text).flatMap { (0...Int(Int32.max)).contains($0) ? $0 : nil }
  }

  private static func milliseconds(_ text: String) -> Int64? {
    let quoted = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
    guard quoted.utf8.count >= 3, quoted.hasPrefix("\""), quoted.hasSuffix("\""),
      let number = Int64(quoted.dropFirst().dropLast()), (0...latest).contains(number)
    else { return nil }
    return number
  }

  /// The error for a status other than 200.
  private static func failure(_ response: HTTPResponse, of collection: KintoCollection) -> SyncError {
    HTTPFailure.status(
      response, during: collection.operation, awaited: "an answer to a request for a page",
      detail: errno(response.body).map { "errno \($0)" },
      special: [
        403: (
          .permissionDenied,
          ": these credentials may not read \(collection.type), or there is no bucket \"\(collection.bucket)\"."
        ),
        404: (
          .invalidConfiguration, ": bucket \"\(collection.bucket)\" has no collection \(collection.type)."
        ),
        410: (.invalidConfiguration, ": the service was closed."),
        412: (.invalidResponse, " to a request without a condition."),
      ])
  }

  /// Whether an answer says that the bucket has no such collection.
  ///
  /// A proxy's 404 does not say so.
  static func saysMissing(_ collection: KintoCollection, _ response: HTTPResponse) -> Bool {
    guard response.status == 404 else { return false }
    var isMissing = false
    // A body that is not JSON counts as no.
    try? JSONScanner.members(of: response.body[...]) { member throws(JSONError) in
      guard member.hasKey(Array("details".utf8)), member.value.kind == .object else { return }
      var details: [String: String] = [:]
      try JSONScanner.members(of: member.value.bytes) { detail throws(JSONError) in
        details[detail.key] = detail.value.string()
      }
      isMissing = details["resource_name"] == "collection" && details["id"] == collection.type.rawValue
    }
    return isMissing
  }

  /// Whether an answer says that no record has the requested id, or can have it.
  ///
  /// A proxy's 404 or 400 does not say so.
  static func saysNoRecord(_ response: HTTPResponse) -> Bool {
    switch response.status {
    case 404: errno(response.body) == 110
    case 400: errno(response.body) == 107
    default: false
    }
  }

  /// The `errno` of a Kinto error. The message stays out: it may quote a record.
  private static func errno(_ body: [UInt8]) -> Int64? {
    var number: Int64?
    do {
      try JSONScanner.members(of: body[...]) { member throws(JSONError) in
        if member.hasKey(Array("errno".utf8)) { number = member.value.integer() }
      }
      return number
    } catch {
      // The body may be a proxy's page. The status alone counts then.
      return nil
    }
  }
}
