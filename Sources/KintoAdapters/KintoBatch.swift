import HTTPAdapters
import SyncJSON
import SyncModels

/// The batch endpoint's format: many requests in one, each with its own answer.
enum KintoBatch {
  /// One request of a batch, as JSON.
  struct Request: Sendable {
    let json: [UInt8]

    /// The request for a change; it applies only to the change's base state.
    init(_ change: OutgoingChange, path: String) throws(SyncError) {
      let method = change.content == .deletion ? "DELETE" : "PUT"
      let condition: KeyValuePairs =
        if let tag = change.base.record.flatMap(Self.tag) {
          ["If-Match": [UInt8].json("\"\(tag)\"")]
        } else {
          // A deletion, too, must not hit a state that was never seen here.
          ["If-None-Match": [UInt8].json("*")]
        }
      var members: [(key: String, value: [UInt8])] = [
        ("method", .json(method)), ("path", .json(path)), ("headers", .json(condition)),
      ]
      if let payload = change.content.payload {
        do {
          members.append(("body", .json(["data": try KintoContent.sendable(payload)])))
        } catch {
          throw SyncError(
            .inconsistentData, during: "pushing edits", "The edit of \(change.id) is not a JSON object.",
            underlying: error)
        }
      }
      json = .object(members)
    }

    /// The time that identifies a copy; `nil` for a copy that came from no server.
    private static func tag(of record: Record) -> Int64? {
      let tag =
        record.entityTag.flatMap { Int64($0) } ?? record.version.modifiedAt.microseconds / 1000
      return tag > 0 ? tag : nil
    }
  }

  /// The body of a batch.
  static func body(_ requests: [Request]) -> [UInt8] {
    .json(["requests": .json(requests.map(\.json))])
  }

  /// The answers, in the order of the requests.
  ///
  /// - Throws: `invalidResponse` unless there is one for each request.
  static func answers(in body: [UInt8], count: Int) throws(SyncError) -> [KintoBatchAnswer] {
    var answers: [KintoBatchAnswer] = []
    do {
      try JSONScanner.members(of: body[...], depthLimit: .max) { member throws(JSONError) in
        guard member.hasKey(Array("responses".utf8)) else { return }
        try JSONScanner.elements(of: member.value.bytes, depthLimit: .max) { element throws(JSONError) in
          answers.append(try KintoBatchAnswer(element.bytes))
        }
      }
    } catch {
      throw HTTPFailure.unreadable(error, during: "pushing edits")
    }
    guard answers.count == count else {
      throw SyncError(
        .invalidResponse, during: "pushing edits",
        "\(Counted(count, "change has", "changes have")) \(Counted(answers.count, "answer")).")
    }
    return answers
  }
}

/// The server's answer to one request of a batch.
struct KintoBatchAnswer: Sendable {
  private(set) var status = 0
  private var errno: Int64?
  /// The record after an accepted change.
  private var data: ArraySlice<UInt8>?
  /// The existing record that caused a conflict.
  private var existing: ArraySlice<UInt8>?
  private var retryAfter: Duration?

  init(_ json: ArraySlice<UInt8>) throws(JSONError) {
    var body: ArraySlice<UInt8>?
    try JSONScanner.members(of: json, depthLimit: .max) { member throws(JSONError) in
      if member.hasKey(Array("status".utf8)) {
        status = member.value.integer().flatMap { Int(exactly: $0) } ?? 0
      } else if member.hasKey(Array("body".utf8)), member.value.kind == .object {
        body = member.value.bytes
      } else if member.hasKey(Array("headers".utf8)), member.value.kind == .object {
        try readHeaders(member.value.bytes)
      }
    }
    if let body { try readBody(body) }
  }

  private mutating func readHeaders(_ json: ArraySlice<UInt8>) throws(JSONError) {
    var headers: HTTPHeaders = [:]
    try JSONScanner.members(of: json, depthLimit: .max) { member throws(JSONError) in
      headers[member.key] = member.value.string()
    }
    retryAfter = RequestedPause.retryAfter(in: HTTPResponse(status: status, headers: headers))
  }

  private mutating func readBody(_ json: ArraySlice<UInt8>) throws(JSONError) {
    try JSONScanner.members(of: json, depthLimit: .max) { member throws(JSONError) in
      if member.hasKey(Array("data".utf8)) { data = member.value.bytes }
      if member.hasKey(Array("errno".utf8)) { errno = member.value.integer() }
      guard member.hasKey(Array("details".utf8)), member.value.kind == .object else { return }
      try JSONScanner.members(of: member.value.bytes, depthLimit: .max) { detail throws(JSONError) in
        if detail.hasKey(Array("existing".utf8)) { existing = detail.value.bytes }
      }
    }
  }

  /// The outcome of a change, by the server's answer.
  ///
  /// - Throws: `invalidResponse` if the change was accepted and the answer lacks the resulting
  ///   state as a page would list it: the record itself or, after a deletion, its tombstone, no
  ///   older than the change's base.
  func outcome(of change: OutgoingChange, _ entity: Entity) throws(SyncError) -> PushOutcome {
    switch status {
    case 200, 201:
      return .accepted(try serverState(on: change, entity))
    case 412:
      guard let existing else { return .conflict(nil) }
      let serverState = Self.read(existing, entity)
      guard case .upsert = serverState, serverState.id == change.id else {
        throw SyncError(
          .invalidResponse, during: "pushing edits",
          "The server does not tell which record conflicts with a change.")
      }
      // The existing record equals the one sent: an earlier attempt was accepted.
      if let payload = change.content.payload, KintoContent.isSame(payload.bytes, existing) {
        return .accepted(serverState)
      }
      return .conflict(serverState)
    case 404 where change.content == .deletion: return .conflict(nil)
    case 404:
      return .refused(reason: "\(said): there is no collection \(change.id.type), or the id is invalid.")
    case 403: return .refused(reason: "\(said): these credentials may not write \(change.id.type).")
    case 405: return .refused(reason: "\(said): the server is read-only.")
    case 413: return .refused(reason: "\(said): the record is larger than the server takes.")
    case 507: return .quotaExceeded
    case 408, 423, 425, 429, 500...599: return .retryLater(after: retryAfter)
    // It tells nothing of the effect of a write.
    case 304 where !change.mayHaveArrived: return .unknown(reason: nil)
    case 304: return .refused(reason: "\(said) twice, and does not tell the result.")
    case let status:
      return .refused(
        reason:
          "\(said): \(HTTPFailure.denial(status) ?? "the server does not accept the record, or its id").")
    }
  }

  /// The record's state after an accepted change, by the server's answer.
  private func serverState(on change: OutgoingChange, _ entity: Entity) throws(SyncError) -> RecordChange {
    let serverState = data.map { Self.read($0, entity) }
    let isSound =
      switch (serverState, change.content) {
      case (.upsert?, .upsert), (.tombstone?, .deletion): true
      default: false
      }
    guard isSound, let serverState, let (id, version) = serverState.identified, id == change.id,
      version.modifiedAt >= change.base.version?.modifiedAt ?? version.modifiedAt
    else {
      throw SyncError(
        .invalidResponse, during: "pushing edits", "The server does not tell the result of a change.")
    }
    return serverState
  }

  private static func read(_ bytes: ArraySlice<UInt8>, _ entity: Entity) -> RecordChange {
    // Detached: one record must not keep the whole answer in memory.
    KintoRecordReader(entity).read(Payload(bytes).detached().bytes)
  }

  private var said: String { "The server answered \(status)\(errno.map { " (errno \($0))" } ?? "")" }
}

/// The content of a record, without the members that the server adds.
enum KintoContent {
  /// The members that the server manages.
  ///
  /// A `last_modified` that is sent would become the record's, whatever the time is.
  static let serverManagedFields: [FieldName] = ["id", "last_modified"]
  private static let own = serverManagedFields.map { Array($0.rawValue.utf8) }

  /// A payload as it is sent: every other member unchanged.
  static func sendable(_ payload: Payload) throws(JSONError) -> [UInt8] {
    var json = [UInt8(ascii: "{")]
    try JSONScanner.members(of: payload.bytes, depthLimit: .max) { member throws(JSONError) in
      if own.contains(where: member.hasKey) { return }
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json += member.rawKey
      json += Array("\":".utf8)
      json += member.value.bytes
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// Whether two records have the same members and values, in any spelling.
  ///
  /// Numbers, strings and white space may be spelled differently.
  static func isSame(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
    // A value that cannot be compared counts as different.
    guard var mine = try? FieldMap(Payload(a)), var theirs = try? FieldMap(Payload(b)) else { return false }
    for name in serverManagedFields { (mine[name], theirs[name]) = (nil, nil) }
    return mine.fields.count == theirs.fields.count && mine.contains(theirs)
  }
}
