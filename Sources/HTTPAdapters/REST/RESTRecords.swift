import SyncJSON
import SyncModels
import SyncPorts

/// Single records of one collection.
struct RESTRecords: Sendable {
  let requests: RESTRequests
  let session: HTTPSession
  private let entity: Entity
  private let reader: RESTRecordReader

  /// A copy of a record, with the tag that a precondition repeats.
  struct Copy: Sendable {
    var change: RecordChange
    var tag: String?
  }

  /// A cache on the way may have an older copy.
  private static let fresh: HTTPHeaders = ["Cache-Control": "no-cache"]

  init(requests: RESTRequests, entity: Entity, session: HTTPSession) {
    self.requests = requests
    self.session = session
    self.entity = entity
    reader = RESTRecordReader(requests.collection, as: entity)
  }

  /// Returns the current copy of a record; `nil` if there is none.
  ///
  /// - Parameter takesSpellings: Whether the copy may have the key in another spelling, under which the
  ///   server keeps it.
  /// - Throws: The error that the status means; `inconsistentData` if the answer holds another
  ///   record.
  func look(
    at key: String, takesSpellings: Bool = false, during operation: String
  ) async throws(SyncError) -> Copy? {
    guard let path = requests.collection.lookupPath, let address = requests.record(key, path: path) else {
      return nil
    }
    let response = try await session.send(
      "GET", address, headers: try await requests.headers(Self.fresh), during: operation)
    if response.status == 404 || response.status == 410 {
      // Some APIs answer with a page for people, and so does a proxy while they are away.
      if !HTTPFailure.beginning(of: response).isEmpty {
        try await demandList(besides: response, during: operation)
      }
      return nil
    }
    guard response.status == 200 else {
      throw HTTPFailure.status(response, during: operation, awaited: "an answer to a request for a record")
    }
    guard let copy = try copy(in: response, during: operation) else {
      // Some APIs answer with null where there is no record.
      if !response.body.isEmpty { return nil }
      throw SyncError(.invalidResponse, during: operation, "The answer is empty.")
    }
    if case .malformed(let malformed) = copy.change, malformed.key == nil {
      // The path names the record, whatever cannot be read of it.
      let named = MalformedRecord(
        type: malformed.type, key: key, bytes: malformed.bytes, reason: malformed.reason)
      return Copy(change: .malformed(named), tag: copy.tag)
    }
    if copy.change.id?.key.utf8.elementsEqual(key.utf8) != true {
      // It has moved to the place of another record, and is gone from its own.
      if response.isRedirected { return nil }
      if takesSpellings, copy.change.id?.key.isSpelling(of: key) == true { return copy }
      throw SyncError(
        .inconsistentData, during: operation,
        "The record at \(requests.collection.place("item")) has another key than was asked for.")
    }
    return copy
  }

  /// Demands that the list of the type is there, beside an answer that a record is not.
  func demandList(besides response: HTTPResponse, during operation: String) async throws(SyncError) {
    // A list under another record may be gone with that one.
    guard requests.collection.under == nil else { return }
    let listing = RESTListing(
      requests: requests, PageRequest(entity: entity, position: .start(since: nil), limit: 1, pass: 1),
      session: session, needsTwoListings: false)
    let asked = try await listing.ask { limit in requests.first(nil, limit: limit) }
    if (try? RESTAnswer(asked.response, of: requests.collection, during: operation)) != nil { return }
    throw SyncError(
      .remoteUnavailable, during: operation,
      "The server answered \(response.status) to a request for a record\(HTTPFailure.beginning(of: response)). It has no list either, so it does not tell whether the record is gone."
    )
  }

  /// Whether a list would show a record, of which the description may select some.
  func isSelected(_ change: RecordChange) -> Bool {
    guard let filter = requests.collection.filter, case .upsert(let record) = change else { return true }
    return filter.selects(record.payload.bytes)
  }

  /// Returns the records that a search shows on its first page.
  func found(at address: HTTPAddress, during operation: String) async throws(SyncError) -> [Record] {
    let response = try await session.send(
      "GET", address, headers: try await requests.headers(Self.fresh), during: operation)
    if response.status == 404 { return [] }
    guard response.status == 200 else {
      throw HTTPFailure.status(response, during: operation, awaited: "an answer to a search for a record")
    }
    var changes: [RecordChange] = []
    do {
      let whole = try JSONValueSlice(checking: response.body[...], depthLimit: .max)
      if let list = requests.collection.records.value(in: whole), list.kind == .array {
        try JSONScanner.elements(of: list.bytes, depthLimit: .max) { element throws(JSONError) in
          changes.append(reader.read(element.bytes))
        }
      }
    } catch {
      throw HTTPFailure.unreadable(error, during: operation)
    }
    let records = changes.compactMap { if case .upsert(let record) = $0 { record } else { nil } }
    guard records.isEmpty, !changes.isEmpty else { return records }
    throw SyncError(
      .invalidResponse, during: operation,
      "The record that \(requests.collection.place("push.find")) leads to cannot be read.")
  }

  /// The record in an answer; `nil` for an answer without a body, and for null.
  func copy(in response: HTTPResponse, during operation: String) throws(SyncError) -> Copy? {
    guard !response.body.isEmpty, response.status != 204 else { return nil }
    let whole: JSONValueSlice
    do {
      whole = try JSONValueSlice(checking: response.body[...], depthLimit: .max)
    } catch {
      guard response.status == 200, MendedJSON(response.body, after: error) != nil else {
        throw HTTPFailure.unreadable(error, of: response, during: operation)
      }
      // The record is there, and one of its bytes is none of JSON.
      let bytes = Payload(response.body[...]).detached()
      return Copy(
        change: .malformed(
          MalformedRecord(
            type: requests.collection.entity.type, key: nil, bytes: bytes, reason: error.description)))
    }
    guard let value = whole.isNull ? whole : requests.collection.itemRecord.value(in: whole) else {
      throw SyncError(
        .inconsistentData, during: operation,
        "\(requests.collection.itemRecord) (\(requests.collection.place("item.record"))) leads to nothing.")
    }
    if value.isNull { return nil }
    var reader = reader
    let now = response.headers["Date"].flatMap(HTTPDate.timestamp) ?? session.clock.timestamp
    reader.latest = now + RESTRecordReader.longestLead
    return Copy(change: reader.read(value.bytes), tag: response.headers["ETag"])
  }
}

/// Reads records of one type by the pointers of a description.
struct RESTRecordReader: Sendable {
  private let collection: RESTAPI.Collection
  private let entity: Entity
  private let pointers: [JSONPointer]
  private let numbers: NumberMeaning
  /// The latest time that is a version. A later one comes from a wrong clock, and is none.
  var latest = Timestamp(microseconds: .max)
  /// The key of the record that the list is under.
  var parent: String?

  /// What a number in the place of a version means.
  private enum NumberMeaning: Sendable {
    case sequence
    case seconds
    case milliseconds
  }

  /// - Parameter entity: The app's declaration of the type, whose fields are extracted.
  init(_ collection: RESTAPI.Collection, as entity: Entity) {
    self.collection = collection
    self.entity = entity
    pointers =
      [collection.id] + [collection.version, collection.deleted].compactMap(\.self) + collection.furtherID
    var format = collection.versionFormat
    if format == nil, case .since(_, let stated, _, _) = collection.delta { format = stated }
    numbers =
      switch format {
      case .seconds: .seconds
      case .milliseconds: .milliseconds
      default: .sequence
      }
  }

  /// Reads one element of a list: a record, a tombstone, or a malformed record with a reason.
  func read(_ bytes: ArraySlice<UInt8>) -> RecordChange {
    var key: String?
    let reason: String
    do {
      let value = try JSONValueSlice(checking: bytes)
      guard value.kind == .object else { throw Flaw("is \(value.kind.inWords), not an object") }
      let found = JSONPointer.values(at: pointers, in: value)
      let id = try self.key(found)
      key = id
      let version = try version(collection.version == nil ? nil : found[1])
      let recordID = RecordID(type: entity.type, key: id)
      if collection.deleted != nil, try isDeleted(found[collection.version == nil ? 1 : 2]) {
        return .tombstone(Tombstone(id: recordID, version: version))
      }
      let payload = try self.payload(value)
      guard let schemaVersion = try entity.schemaVersion(of: payload) else {
        throw Flaw("\"\(entity.schemaVersionField?.rawValue ?? "")\" is not a whole number of 1 or more")
      }
      return .upsert(
        Record(
          id: recordID, version: version, schemaVersion: schemaVersion, payload: payload,
          fields: try entity.fields(of: payload)))
    } catch let flaw as Flaw {
      reason = flaw.reason
    } catch let error as JSONError {
      reason = error.description
    } catch {
      reason = "cannot be read"
    }
    return .malformed(
      MalformedRecord(type: entity.type, key: key, bytes: Payload(bytes).detached(), reason: reason))
  }

  /// A malformed record, with the key that its mended form has.
  func named(_ change: RecordChange, by mended: ArraySlice<UInt8>) -> RecordChange {
    guard case .malformed(let malformed) = change, malformed.key == nil,
      let value = try? JSONValueSlice(checking: mended),
      let key = try? key(JSONPointer.values(at: pointers, in: value)), !key.contains("?")
    else { return change }
    return .malformed(
      MalformedRecord(
        type: malformed.type, key: key, bytes: malformed.bytes, reason: malformed.reason))
  }

  private struct Flaw: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// The payload of a record, with the key of its parent if the record lacks it.
  private func payload(_ value: JSONValueSlice) throws -> Payload {
    guard let under = collection.under, let parent else { return Payload(value.bytes) }
    var members = try FieldMap(Payload(value.bytes))
    guard members.isLacking(under.member) else { return Payload(value.bytes) }
    members[under.member] = JSONString.quoted(parent)[...]
    return members.payload
  }

  /// The key of a record, by the values of all pointers.
  private func key(_ values: [JSONValueSlice?]) throws -> String {
    let first = try key(values[0])
    guard collection.hasKeysOfParts else { return first }
    var parts = [first.keyPart]
    for value in values.suffix(collection.furtherID.count) { parts.append(try key(value).keyPart) }
    if collection.under?.hasKeysWithin == true, let parent { parts.insert(parent.keyPart, at: 0) }
    return parts.joined(separator: "/")
  }

  private func key(_ value: JSONValueSlice?) throws -> String {
    guard let value, !value.isNull else {
      throw Flaw("\(collection.id) (\(collection.place("id"))) leads to \(value == nil ? "nothing" : "null")")
    }
    if value.hasHalfCharacter {
      throw Flaw("\(collection.id) (\(collection.place("id"))) \(UnportableJSON.halfCharacter.description)")
    }
    if let text = value.string(), !text.isEmpty { return text }
    if let number = value.integer() { return String(number) }
    // A whole number beyond 64 bits is its digits.
    if value.kind == .number, value.bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    {
      return String(decoding: value.bytes, as: UTF8.self)
    }
    let found = value.kind == .string ? "empty text" : value.kind.inWords
    throw Flaw("\(collection.id) (\(collection.place("id"))) is \(found), not text or a whole number")
  }

  /// The most that a server's clock may be ahead of its answer.
  static let longestLead = Duration.seconds(86_400)

  private func version(_ value: JSONValueSlice?) throws -> Version {
    let version = try stated(value)
    return version.modifiedAt > latest ? .undated : version
  }

  /// Whether a record has a version that is no time yet.
  func isAhead(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let pointer = collection.version, let value = try? JSONValueSlice(checking: bytes),
      let version = try? stated(JSONPointer.values(at: [pointer], in: value)[0])
    else { return false }
    return version.modifiedAt > latest
  }

  private func stated(_ value: JSONValueSlice?) throws -> Version {
    guard let value, !value.isNull else { return .undated }
    let text = value.string()
    let place = "\(collection.version?.text ?? "") (\(collection.place("version")))"
    switch collection.versionFormat {
    case .number:
      let digits = text ?? String(decoding: value.bytes, as: UTF8.self)
      guard let version = Version(decimal: digits) else { throw Flaw("\(place) is no number") }
      return version
    case .seconds, .milliseconds:
      if let number = text.flatMap({ Double($0) }) {
        return Version(modifiedAt: Self.time(number * (numbers == .seconds ? 1e6 : 1e3)))
      }
    case let format?:
      if let time = text.flatMap(format.parsed) { return Version(modifiedAt: time) }
      throw Flaw("\(place) is not a time as \(format.layout) writes it")
    case nil:
      if let time = text.flatMap({ Timestamp(iso8601: $0) }) { return Version(modifiedAt: time) }
    }
    // A copy without an order would be taken for older than every other one.
    guard let number = value.double() else {
      throw Flaw("\(place) is \(value.kind.inWords), not a time or a number")
    }
    let whole = value.integer()
    switch numbers {
    case .sequence:
      guard let sequence = whole ?? Int64(exactly: number.rounded(.down)) else {
        throw Flaw("\(place) is a number beyond 64 bits")
      }
      // A fraction counts too, as far as a number can have one.
      let fraction = whole == nil ? ((number - number.rounded(.down)) * 1e6).rounded() : 0
      return Version(sequence: sequence, modifiedAt: Timestamp(microseconds: Int64(fraction)))
    case .seconds: return Version(modifiedAt: Self.time(number * 1e6))
    case .milliseconds:
      return Version(modifiedAt: whole.map { Timestamp(milliseconds: $0) } ?? Self.time(number * 1e3))
    }
  }

  private static func time(_ microseconds: Double) -> Timestamp {
    Timestamp(microseconds: Int64(exactly: microseconds.rounded()) ?? (microseconds < 0 ? .min : .max))
  }

  private func isDeleted(_ value: JSONValueSlice?) throws -> Bool {
    guard let value, !value.isNull else { return false }
    switch collection.deletedIf {
    case .word(let word): return value.string() == word
    case .presence: return true
    case nil: break
    }
    if let flag = value.bool() { return flag }
    // The zero of a server's times is a number of seconds far before 1970.
    if let number = value.double() { return number != 0 && number > -1_000_000 }
    if let text = value.string() {
      if ["1", "true"].contains(text.lowercased()) { return true }
      // MySQL has such a time where there is none.
      if ["", "0", "false"].contains(text.lowercased()) || text.hasPrefix("0000-00-00") { return false }
      // Other servers have the zero of their times there, which is in the year 1 or at the turn of 1970.
      if let time = Timestamp(iso8601: text) { return time > Timestamp(milliseconds: 86_400_000) }
    }
    throw Flaw(
      "\(collection.deleted?.text ?? "") (\(collection.place("deleted"))) is neither true, false, null nor a time"
    )
  }

  /// Whether an element of a list lacks the member that a pointer names.
  static func lacks(_ pointer: JSONPointer, _ bytes: ArraySlice<UInt8>) -> Bool {
    guard let value = try? JSONValueSlice(checking: bytes) else { return false }
    return pointer.value(in: value) == nil
  }
}

extension String {
  /// Whether a server that ignores case, or normalizes Unicode, takes two keys for one.
  ///
  /// PostgreSQL, for one, has each UUID in small letters.
  func isSpelling(of key: String) -> Bool {
    !utf8.elementsEqual(key.utf8) && lowercased() == key.lowercased()
  }
}

extension Version {
  /// The version that a decimal number is, with up to six digits after the point.
  fileprivate init?(decimal text: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first.flatMap({ Int64($0) }) else { return nil }
    let digits = parts.count > 1 ? parts[1] : ""
    guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    let fraction = Int64((digits + "000000").prefix(6)) ?? 0
    self.init(sequence: whole, modifiedAt: Timestamp(microseconds: fraction))
  }
}
