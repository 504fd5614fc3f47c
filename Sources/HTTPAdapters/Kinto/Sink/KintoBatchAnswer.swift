import SyncJSON
import SyncModels

/// What the server answered to one request of a batch.
struct KintoBatchAnswer: Sendable {
  private(set) var status = 0
  private var errno: Int64?
  /// The record after a change that was made.
  private var data: ArraySlice<UInt8>?
  /// The record that was in the way.
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

  /// What the answer means to the change.
  ///
  /// - Throws: `invalidResponse` if the change was made, and what it led to is not told as a page would tell it: the record itself or, of a deletion, its
  ///   tombstone, no older than what the change was made on.
  func outcome(of change: OutgoingChange, _ entity: Entity) throws(SyncError) -> PushOutcome {
    switch status {
    case 200, 201:
      return .accepted(try word(on: change, entity))
    case 412:
      guard let existing else { return .conflict(nil) }
      let word = Self.read(existing, entity)
      guard case .upsert = word, word.id == change.id else {
        throw SyncError(
          .invalidResponse, during: "pushing edits", "The server does not tell what is in a change's way.")
      }
      // Nobody else had the same idea: our own words came back.
      if let payload = change.content.payload, KintoContent.isSame(payload.bytes, existing) {
        return .accepted(word)
      }
      return .conflict(word)
    case 404 where change.content == .deletion: return .conflict(nil)
    case 404:
      return .refused(reason: "\(said): there is no collection \(change.id.type), or no such id can be.")
    case 403: return .refused(reason: "\(said): these credentials may not write \(change.id.type).")
    case 405: return .refused(reason: "\(said): the server is for reading only.")
    case 413: return .refused(reason: "\(said): the record is larger than the server takes.")
    case 507: return .quotaExceeded
    case 408, 429, 500...599: return .retryLater(after: retryAfter)
    default: return .refused(reason: "\(said): it does not take the record, or its id.")
    }
  }

  /// What the server says that it made of a change.
  private func word(on change: OutgoingChange, _ entity: Entity) throws(SyncError) -> RecordChange {
    let word = data.map { Self.read($0, entity) }
    let isSound =
      switch (word, change.content) {
      case (.upsert?, .upsert), (.tombstone?, .deletion): true
      default: false
      }
    guard isSound, let word, let (id, version) = word.identified, id == change.id,
      version.modifiedAt >= change.base.version?.modifiedAt ?? version.modifiedAt
    else {
      throw SyncError(
        .invalidResponse, during: "pushing edits", "The server does not tell what it made of a change.")
    }
    return word
  }

  private static func read(_ bytes: ArraySlice<UInt8>, _ entity: Entity) -> RecordChange {
    // A batch's answer is not kept for the sake of one record of it.
    KintoRecordReader(entity).read(Payload(bytes).detached().bytes)
  }

  private var said: String { "The server answered \(status)\(errno.map { " (errno \($0))" } ?? "")" }
}
