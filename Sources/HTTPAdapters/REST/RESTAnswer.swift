import SyncJSON
import SyncModels
import SyncPorts

/// The parts of an answer to a request for a list.
struct RESTAnswer: Sendable {
  /// The elements of the list.
  private(set) var rows: [ArraySlice<UInt8>] = []
  /// The readable forms of those elements that are no JSON, for their keys.
  private(set) var mended: [Int: ArraySlice<UInt8>] = [:]
  /// The text that leads to the next page: an address or a cursor; `nil` at the end.
  private(set) var next: String?
  /// The number of records that the listing has in all.
  private(set) var total: Int?
  /// Whether the flag of the description says that pages follow; `nil` without one.
  private(set) var saysMore: Bool?
  /// The token of later changes, or the address that tells them.
  private(set) var token: String?
  /// Whether the list has elements, and the pointer to records leads to nothing in any of them.
  private(set) var leadsNowhere = false
  /// The tag of this answer.
  let tag: String?
  private var clock: Timestamp?
  let date: Timestamp?
  /// How long ago a cache has got the answer, which may have a later `Date`.
  private let age: Duration
  /// How much older than the server's time the list may be. A time in the body is as old as the list.
  var staleness: Duration { clock == nil ? age : .zero }

  /// The most records that a listing may claim to have.
  static let mostRecords = 1 << 53
  /// The last time that the format of times can write.
  private static let latest = Timestamp.endOfYear9999

  /// Reads an answer.
  ///
  /// - Throws: The error that its status means; `invalidResponse` if the body is not JSON;
  ///   `inconsistentData` if a pointer leads to a value of another kind than expected.
  init(
    _ response: HTTPResponse, of collection: RESTAPI.Collection, during operation: String
  ) throws(SyncError) {
    tag = response.headers["ETag"]
    date = response.headers["Date"].flatMap(HTTPDate.timestamp)
    age = Self.age(of: response)
    // 206 answers a part of a list, 204 an empty one.
    guard [200, 204, 206].contains(response.status) else {
      throw HTTPFailure.status(
        response, during: operation, awaited: "an answer to a request for a list",
        special: [
          403: (
            .permissionDenied, ": these credentials may not read \(collection.path)."
          ),
          404: (
            .invalidConfiguration,
            ": there is nothing at \"\(collection.path)\" (\(collection.place("path")))."
          ),
        ])
    }
    next = Self.link(in: response, of: collection)
    if case .cursorHeader(let name, _) = collection.paging {
      next = response.headers[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    guard response.status != 204 else { return }
    var whole: JSONValueSlice
    var flawed: MendedJSON?
    do {
      // A record that nests too deeply is malformed; the page is not.
      whole = try JSONValueSlice(checking: response.body[...], depthLimit: .max)
    } catch {
      flawed = MendedJSON(response.body, after: error)
      guard let flawed, let mended = try? JSONValueSlice(checking: flawed.bytes[...], depthLimit: .max) else {
        throw HTTPFailure.unreadable(error, of: response, during: operation)
      }
      whole = mended
    }
    let reading = Reading(collection: collection, operation: operation)
    let values = JSONPointer.values(at: reading.pointers.map(\.pointer), in: whole)
    if let flawed, reading.isFlawed(values, flawed) {
      throw HTTPFailure.unreadable(flawed.error, of: response, during: operation)
    }
    if let errors = collection.errors, let value = errors.value(in: whole) {
      try reading.demandNone(value, errors)
    }
    for (wanted, value) in zip(reading.pointers, values) {
      switch wanted.role {
      case .records:
        rows = try reading.rows(value, wanted, of: values)
        leadsNowhere = rows.isEmpty && reading.leadsNowhere(value)
      case .next: next = try reading.continuation(value, wanted)
      case .total: total = try reading.count(value, wanted)
      case .token: token = try reading.token(value, wanted)
      case .clock: clock = try reading.time(value, wanted)
      case .more:
        let whileMore = collection.more?.whileMore ?? true
        // A flag that only the last answer raises may be missing before and after.
        let isKnown = whileMore || value.map { !$0.isNull } ?? false
        saysMore = isKnown ? reading.isRaised(value) == whileMore : nil
      }
    }
    if let flawed { try setAside(flawed, in: response, during: operation) }
  }

  /// Restores the elements that are no JSON, which are malformed records.
  ///
  /// - Throws: `invalidResponse` if no flaw is in an element of the list.
  private mutating func setAside(
    _ flawed: MendedJSON, in response: HTTPResponse, during operation: String
  ) throws(SyncError) {
    for (index, row) in rows.enumerated() where flawed.isFlawed(row.indices) {
      mended[index] = row
      rows[index] = response.body[row.indices]
    }
    guard !mended.isEmpty else {
      throw HTTPFailure.unreadable(flawed.error, of: response, during: operation)
    }
  }

  /// How long ago a cache got an answer; zero for the server's own.
  static func age(of response: HTTPResponse) -> Duration {
    response.headers["Age"].flatMap { Int64($0) }.map { .seconds(max(0, min($0, 31_622_400))) } ?? .zero
  }

  /// The target of the header that leads to the next page; `nil` at the end.
  static func link(in response: HTTPResponse, of collection: RESTAPI.Collection) -> String? {
    guard case .link(let relation) = collection.paging else { return nil }
    return response.headers["Link"].flatMap { LinkHeader.target(of: relation, in: $0) }
  }

  /// The server's time, no later than the moment when it read the list.
  ///
  /// - Parameter elapsed: How long the request took. `Date` may be of its end.
  /// - Throws: `inconsistentData` if the answer has no time.
  func serverTime(
    elapsed: Duration, of collection: RESTAPI.Collection, during operation: String
  ) throws(SyncError) -> Timestamp {
    // A clock that tells the time of a zone without its name is not later than the server's own.
    if let clock { return min(clock, date ?? Self.latest, Self.latest) }
    guard let date else {
      throw SyncError(
        .inconsistentData, during: operation,
        "The server sends no Date, so \(collection.place("delta")) needs \"clock\", a pointer to its time.")
    }
    return date - elapsed
  }

  /// The values that a description points to in an answer.
  private struct Reading {
    enum Role { case records, next, total, token, clock, more }
    typealias Wanted = (role: Role, pointer: JSONPointer, member: String)

    let collection: RESTAPI.Collection
    let operation: String

    var pointers: [Wanted] {
      var wanted: [Wanted] = [
        (.records, collection.records.starred?.head ?? collection.records, "records")
      ]
      switch collection.paging {
      case .next(let pointer): wanted.append((.next, pointer, "paging.next"))
      case .cursor(let pointer, _): wanted.append((.next, pointer, "paging.cursor"))
      case .link, .cursorHeader, .after, .page, .offset, nil: break
      }
      if let total = collection.total { wanted.append((.total, total, "total")) }
      switch collection.delta {
      case .token(let pointer, _): wanted.append((.token, pointer, "delta.token"))
      case .next(let pointer): wanted.append((.token, pointer, "delta.next"))
      case .since(_, _, _, let pointer?): wanted.append((.clock, pointer, "delta.clock"))
      case .since, .etag, nil: break
      }
      if let more = collection.more { wanted.append((.more, more.pointer, "paging.more")) }
      return wanted
    }

    /// Whether a mended value is one that decides about the list.
    func isFlawed(_ values: [JSONValueSlice?], _ flawed: MendedJSON) -> Bool {
      zip(pointers, values).contains { wanted, value in
        wanted.role != .records && value.map { flawed.isFlawed($0.bytes.indices) } ?? false
      }
    }

    /// Whether a flag is true, a number above 0, or a text that is not the word or the number for no.
    func isRaised(_ value: JSONValueSlice?) -> Bool {
      value?.bool() ?? value?.double().map { $0 > 0 }
        ?? value?.string().map { !["", "0", "false"].contains($0.lowercased()) } ?? false
    }

    /// The error for a value of another kind than expected.
    private func unexpected(_ value: JSONValueSlice?, _ wanted: Wanted, _ expected: String) -> SyncError {
      let pointer = wanted.pointer.text.isEmpty ? "The answer" : wanted.pointer.text
      let found = value.map { "is \($0.kind.inWords)" } ?? "leads to nothing"
      return SyncError(
        .inconsistentData, during: operation,
        "\(pointer) (\(collection.place(wanted.member))) \(found); expected is \(expected).")
    }

    /// The elements of the list. An empty one may be null, or left out beside a total of 0.
    func rows(
      _ value: JSONValueSlice?, _ wanted: Wanted, of values: [JSONValueSlice?]
    ) throws(SyncError) -> [ArraySlice<UInt8>] {
      if value?.isNull ?? (total(in: values) == 0) { return [] }
      if let starred = collection.records.starred {
        guard let value, value.kind == .array || value.kind == .object else {
          throw unexpected(value, wanted, "a list of elements with records")
        }
        return JSONPointer.spread(value, starred.rest[...])
      }
      guard let value, value.kind == .array else { throw unexpected(value, wanted, "a list of records") }
      var rows: [ArraySlice<UInt8>] = []
      do {
        try JSONScanner.elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
          rows.append(element.bytes)
        }
      } catch {
        throw HTTPFailure.unreadable(error, during: operation)
      }
      return rows
    }

    /// Whether there are elements, and the pointer to their records leads to nothing in any of them.
    func leadsNowhere(_ value: JSONValueSlice?) -> Bool {
      guard let value, let pointer = collection.records.starred?.rest.first else { return false }
      let elements = JSONPointer.spread(value, [""])
      return !elements.isEmpty
        && elements.allSatisfy { element in
          (try? JSONValueSlice(checking: element, depthLimit: .max)).flatMap(pointer.value) == nil
        }
    }

    /// Throws the errors that an answer tells although its status is 200.
    func demandNone(_ value: JSONValueSlice, _ pointer: JSONPointer) throws(SyncError) {
      if value.isNull || value.bool() == false || value.double() == 0 || value.string()?.isEmpty == true {
        return
      }
      if value.kind == .object, (try? FieldMap(Payload(value.bytes)))?.fields.isEmpty == true { return }
      var first = value
      if value.kind == .array {
        guard let element = ("/0" as JSONPointer).value(in: value) else { return }
        first = element
      }
      let told = HTTPFailure.message(in: first) ?? first.string().map { String($0.prefix(200)) }
      let codes: [JSONPointer] = ["/extensions/code", "/code", "/type"]
      let code = JSONPointer.values(at: codes, in: first).lazy.compactMap { $0?.string() }.first ?? ""
      let isTemporary = [
        "THROTTLED", "RATE_LIMITED", "MAX_COST_EXCEEDED", "TIMEOUT", "INTERNAL_SERVER_ERROR",
      ]
      .contains(code.uppercased())
      throw SyncError(
        isTemporary ? .remoteUnavailable : .inconsistentData, during: operation,
        "The answer tells an error (\(collection.place("errors")))\(told.map { ": \($0)" } ?? "")."
      )
    }

    private func total(in values: [JSONValueSlice?]) -> Int64? {
      zip(pointers, values).first { $0.0.role == .total }?.1.flatMap {
        $0.integer() ?? $0.string().flatMap { Int64($0) }
      }
    }

    func continuation(_ value: JSONValueSlice?, _ wanted: Wanted) throws(SyncError) -> String? {
      guard let value, !value.isNull, value.bool() != false else { return nil }
      if let text = value.string() { return text.isEmpty ? nil : text }
      if case .cursor = collection.paging, let number = value.integer() { return String(number) }
      throw unexpected(value, wanted, "text, or null at the end")
    }

    func count(_ value: JSONValueSlice?, _ wanted: Wanted) throws(SyncError) -> Int? {
      guard let value, !value.isNull else {
        if value == nil { throw unexpected(nil, wanted, "a whole number") }
        return nil
      }
      guard let number = value.integer() ?? value.string().flatMap({ Int64($0) }),
        (0...Int64(RESTAnswer.mostRecords)).contains(number)
      else {
        throw unexpected(value, wanted, "a whole number")
      }
      return Int(number)
    }

    func token(_ value: JSONValueSlice?, _ wanted: Wanted) throws(SyncError) -> String? {
      guard let value, !value.isNull else { return nil }
      if let text = value.string(), !text.isEmpty { return text }
      if let number = value.integer() { return String(number) }
      throw unexpected(value, wanted, "text")
    }

    func time(_ value: JSONValueSlice?, _ wanted: Wanted) throws(SyncError) -> Timestamp {
      if let text = value?.string(), let time = Timestamp(iso8601: text) { return time }
      if let number = value?.integer() {
        // Seconds have reached 10¹⁰ in 2286 only, milliseconds in 1970.
        return number.magnitude < 10_000_000_000
          ? Timestamp(milliseconds: number * 1000) : Timestamp(milliseconds: number)
      }
      throw unexpected(value, wanted, "a time")
    }
  }
}
