import HTTPAdapters
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

  init(_ response: HTTPResponse, of collection: KintoCollection) throws(SyncError) {
    guard response.status == 200 else { throw Self.failure(response, of: collection) }
    guard let etag = response.headers["ETag"].flatMap(Self.milliseconds) else {
      throw SyncError(
        .invalidResponse, during: collection.operation,
        """
        The answer has no ETag of a Kinto server\(HTTPFailure.origin(of: response))\
        \(HTTPFailure.beginning(of: response)); does the address end with the version, as in /v1?
        """)
    }
    self.etag = etag
    body = response.body
    nextPage = response.headers["Next-Page"]
    total = Self.count(response.headers["Total-Objects"] ?? response.headers["Total-Records"])
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
  static func count(_ text: String?) -> Int? {
    text.flatMap { Int($0) }.flatMap { (0...Int(Int32.max)).contains($0) ? $0 : nil }
  }

  private static func milliseconds(_ text: String) -> Int64? {
    let quoted = text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
    guard quoted.utf8.count >= 3, quoted.hasPrefix("\""), quoted.hasSuffix("\""),
      let number = Int64(quoted.dropFirst().dropLast()), (0...Timestamp.latestMillisecond).contains(number)
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

/// The records of one page, read from its body.
struct KintoListing: Sendable {
  private(set) var changes: [RecordChange] = []
  private(set) var tombstones = 0
  /// The last readable record.
  private(set) var last: KintoBookmark.Place?

  private let collection: KintoCollection
  private let reader: KintoRecordReader
  private static let data = Array("data".utf8)

  private init(of entity: Entity, _ collection: KintoCollection) {
    self.collection = collection
    reader = KintoRecordReader(entity)
  }

  /// Reads a page.
  ///
  /// - Parameter place: The last record of the previous page, after which this one must continue.
  /// - Throws: `invalidResponse` if the body is not a page, or not in the requested order.
  init(
    _ body: [UInt8], of entity: Entity, _ collection: KintoCollection, after place: KintoBookmark.Place?
  ) throws(SyncError) {
    self.init(of: entity, collection)
    last = place
    let array = try data(of: body)
    var isInOrder = true
    do {
      // A record that nests too deeply is malformed; the page is not.
      try JSONScanner.elements(of: array.bytes, depthLimit: .max) { element throws(JSONError) in
        if !take(element.bytes) { isInOrder = false }
      }
    } catch {
      throw unreadable(error)
    }
    guard isInOrder else {
      throw SyncError(
        .invalidResponse, during: collection.operation,
        "The server does not list by ascending last_modified, or lists the same again.")
    }
  }

  /// Reads the answer to a request for one record.
  init(record body: [UInt8], of entity: Entity, _ collection: KintoCollection) throws(SyncError) {
    self.init(of: entity, collection)
    _ = take(try data(of: body).bytes)
  }

  private func data(of body: [UInt8]) throws(SyncError) -> JSONValueSlice {
    var value: JSONValueSlice?
    do {
      try JSONScanner.members(of: body[...], depthLimit: .max) { member throws(JSONError) in
        if member.hasKey(Self.data) { value = member.value }
      }
    } catch {
      throw unreadable(error)
    }
    guard let value else {
      throw SyncError(
        .invalidResponse, during: collection.operation, "The answer has no member \"data\".")
    }
    return value
  }

  private func unreadable(_ error: JSONError) -> SyncError {
    HTTPFailure.unreadable(error, during: collection.operation)
  }

  /// Adds one element; `false` if it cannot follow the previous one.
  private mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
    let change = reader.read(bytes)
    guard let (id, version) = change.identified else {
      changes.append(change)
      return true
    }
    let modified = version.modifiedAt.microseconds / 1000
    if let last,
      modified < last.modified || (modified == last.modified && id.key.utf8.elementsEqual(last.key.utf8))
    {
      return false
    }
    last = KintoBookmark.Place(modified: modified, key: id.key)
    if case .tombstone = change { tombstones += 1 }
    changes.append(change)
    return true
  }
}

/// Reads one record from a page, or from the answer to an edit.
struct KintoRecordReader: Sendable {
  private let reader: RecordReader
  private let recordsAlone: RecordReader

  private static let tombstoneMembers = ["id", "last_modified", "deleted"].map { Array($0.utf8) }

  init(_ entity: Entity) {
    func reader(deleted: FieldName?) -> RecordReader {
      RecordReader(
        entity,
        layout: RecordLayout(
          modifiedAt: "last_modified", unit: .milliseconds, deleted: deleted, entityTag: "last_modified"))
    }
    self.reader = reader(deleted: "deleted")
    recordsAlone = reader(deleted: nil)
  }

  /// Reads a record or a tombstone.
  ///
  /// Any other element is a malformed record, and so is one without a valid server time.
  func read(_ bytes: ArraySlice<UInt8>) -> RecordChange {
    var change = reader.read(bytes)
    // A server's tombstone has no other members. Beside others, `deleted` is the app's own member.
    if case .tombstone = change, Self.saysMore(bytes) { change = recordsAlone.read(bytes) }
    guard let (id, version) = change.identified else { return change }
    guard (1...Timestamp.latestMillisecond).contains(version.modifiedAt.microseconds / 1000) else {
      return .malformed(
        MalformedRecord(
          type: id.type, key: id.key, bytes: Payload(bytes).detached(),
          reason: "\"last_modified\" is missing or not a time"))
    }
    return change
  }

  private static func saysMore(_ bytes: ArraySlice<UInt8>) -> Bool {
    var saysMore = false
    // An element that cannot be read to its end is no tombstone.
    try? JSONScanner.members(of: bytes) { member throws(JSONError) in
      if !tombstoneMembers.contains(where: member.hasKey) { saysMore = true }
    }
    return saysMore
  }
}

extension RecordChange {
  /// The record's id and version; `nil` for a malformed record.
  var identified: (id: RecordID, version: Version)? {
    switch self {
    case .upsert(let record): (record.id, record.version)
    case .tombstone(let tombstone): (tombstone.id, tombstone.version)
    case .malformed: nil
    }
  }
}
