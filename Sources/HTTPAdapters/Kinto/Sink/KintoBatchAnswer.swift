import SyncJSON
import SyncModels

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
    case 408, 429, 500...599: return .retryLater(after: retryAfter)
    default: return .refused(reason: "\(said): the server does not accept the record, or its id.")
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
