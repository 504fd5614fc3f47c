import SyncJSON
import SyncModels

/// One edit on its way: a look at the record, the write, and what became of it.
struct RESTEdit: Sendable {
  private let change: OutgoingChange
  private let collection: RESTAPI.Collection
  private let content: RESTContent
  private let records: RESTRecords
  private let session: HTTPSession

  init(_ change: OutgoingChange, _ entity: Entity, _ source: RESTSource) throws(SyncError) {
    self.change = change
    let requests = try source.requests(for: change.id.type)
    collection = requests.collection
    content = RESTContent(collection: collection)
    records = RESTRecords(requests: requests, entity: entity, session: source.session)
    session = source.session
  }

  /// Sends the edit, and returns its outcome.
  func push(during operation: String) async throws(SyncError) -> PushOutcome {
    guard let push = collection.push else {
      return .refused(reason: "The description says nothing of writes (\(collection.place("push"))).")
    }
    guard let request = change.content == .deletion ? push.delete : push.write else {
      return .refused(
        reason: "The description says nothing of deletions (\(collection.place("push.delete"))).")
    }
    guard let address = records.requests.record(change.id.key, path: request.path) else {
      return .refused(reason: "The key cannot be part of an address.")
    }
    let current = try await records.look(at: change.id.key, during: operation)
    if let outcome = settled(by: current?.change) { return outcome }
    var headers: HTTPHeaders = [:]
    if push.precondition == .etag {
      if let current, !current.isTombstone {
        guard let tag = current.tag, !tag.hasPrefix("W/") else {
          return .refused(
            reason:
              "The API gives \(current.tag == nil ? "no" : "a weak") ETag, so \(collection.place("push.precondition")) cannot be \"etag\"."
          )
        }
        headers["If-Match"] = tag
      } else {
        headers["If-None-Match"] = "*"
      }
    }
    var body: [UInt8] = []
    if let payload = change.content.payload {
      headers["Content-Type"] = "application/json"
      do {
        body = try content.sendable(payload, key: change.id.key, base: change.base.record)
      } catch {
        throw SyncError(
          .inconsistentData, during: operation, "The edit of \(change.id) is not a JSON object.",
          underlying: error)
      }
    }
    let response = try await session.send(
      request.method, address, headers: headers, body: body, isAboutEdits: true, during: operation)
    return try await outcome(of: response, over: current?.change, during: operation)
  }

  /// The outcome, if the record's state decides it without a write.
  private func settled(by current: RecordChange?) -> PushOutcome? {
    switch (current, change.content) {
    case (.malformed?, _): return .conflict(current)
    case (.upsert(let record)?, .upsert(let payload, _)):
      if content.holds(record.payload, payload, removedFrom: change.base.record?.payload) {
        return .accepted(.upsert(record))
      }
      return isBase(record) ? nil : .conflict(.upsert(record))
    case (.upsert(let record)?, .deletion): return isBase(record) ? nil : .conflict(.upsert(record))
    case (.tombstone(let tombstone)?, .deletion): return .accepted(.tombstone(tombstone))
    case (nil, .deletion): return .accepted(.tombstone(deletion(at: nil)))
    case (let tombstone, .upsert): return change.base.record == nil ? nil : .conflict(tombstone)
    }
  }

  private func isBase(_ record: Record) -> Bool {
    change.base.record.map { content.isSame(record, $0) } ?? false
  }

  /// The tombstone of a record that is gone without a trace: newer than the edit's base.
  private func deletion(at time: Timestamp?) -> Tombstone {
    var version = change.base.version ?? Version(modifiedAt: Timestamp(microseconds: 0))
    version.epoch = 0
    if version.sequence == .min { version = Version(modifiedAt: Timestamp(microseconds: 0)) }
    let next = version.modifiedAt + .microseconds(1)
    version.modifiedAt = max(time ?? next, next)
    return Tombstone(id: change.id, version: version)
  }

  /// The outcome of a write, by its answer.
  private func outcome(
    of response: HTTPResponse, over before: RecordChange?, during operation: String
  ) async throws(SyncError) -> PushOutcome {
    let said = "The server answered \(response.status)"
    switch response.status {
    case 200...299: return try await accepted(response, during: operation)
    case 303:
      // The effect is unknown: the address elsewhere may be that of the result, or of a page to
      // log in.
      let current = try await records.look(at: change.id.key, during: operation)
      return settled(by: current?.change) ?? .retryLater(after: nil)
    case 409, 412:
      return try await settledByLook(removedFrom: change.base.record?.payload, during: operation) {
        .conflict($0)
      }
    case 404, 410:
      if change.content == .deletion { return .accepted(.tombstone(deletion(at: nil))) }
      guard change.base.record == nil else { return .conflict(nil) }
      return .refused(
        reason: "\(said) to a new record: the API may assign ids itself, and then takes none of ours.")
    case 401, 408, 429:
      throw HTTPFailure.status(response, during: operation, awaited: "an answer to an edit")
    case 403: return .refused(reason: "\(said): these credentials may not write \(change.id.type).")
    case 405, 501: return .refused(reason: "\(said): the API does not allow this.")
    case 413: return .refused(reason: "\(said): the record is larger than the server takes.")
    case 507: return .quotaExceeded
    // The next attempt looks whether this one had an effect.
    case 500...599: return .retryLater(after: RequestedPause.retryAfter(in: response))
    default: return .refused(reason: "\(said): the server does not accept the record, or its id.")
    }
  }

  /// The outcome of a write that the server accepted.
  private func accepted(
    _ response: HTTPResponse, during operation: String
  ) async throws(SyncError) -> PushOutcome {
    if change.content == .deletion {
      if case .tombstone(let tombstone)? = try await records.look(at: change.id.key, during: operation)?
        .change
      {
        return .accepted(.tombstone(tombstone))
      }
      return .accepted(.tombstone(deletion(at: response.headers["Date"].flatMap(HTTPDate.timestamp))))
    }
    // An answer may be anything but the record.
    let answer = try? records.copy(in: response, during: operation)
    if case .upsert(let record)? = answer?.change, record.id == change.id {
      return .accepted(.upsert(record))
    }
    // A removed member that is there all the same is the API's own: another attempt would not help.
    return try await settledByLook(removedFrom: nil, during: operation) { current in
      if case .upsert? = current { .conflict(current) } else { .retryLater(after: nil) }
    }
  }

  /// Looks at the record again: it holds what was sent, or another client's state.
  ///
  /// - Parameter base: The payload whose other members the record must lack.
  private func settledByLook(
    removedFrom base: Payload?, during operation: String, otherwise: (RecordChange?) -> PushOutcome
  ) async throws(SyncError) -> PushOutcome {
    let current = try await records.look(at: change.id.key, during: operation)?.change
    if case .upsert(let record)? = current, let payload = change.content.payload,
      content.holds(record.payload, payload, removedFrom: base)
    {
      return .accepted(.upsert(record))
    }
    return otherwise(current)
  }
}

extension RESTRecords.Copy {
  fileprivate var isTombstone: Bool {
    if case .tombstone = change { true } else { false }
  }
}
