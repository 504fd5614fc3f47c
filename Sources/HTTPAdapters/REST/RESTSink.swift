import SyncJSON
public import SyncModels
public import SyncPorts

/// Sends local edits to a JSON API; the counterpart of ``RESTSource``.
///
/// ```swift
/// let source = try RESTSource(api, transport: transport)
/// let engine = try await SyncEngine(schema: api.schema, store: store, source: source, sink: RESTSink(source))
/// ```
///
/// Each edit is a request of its own, to a path with the record's key. The record is looked at
/// first. If it already has the edit's content, an earlier attempt succeeded and its answer was
/// lost: the edit counts as accepted. If it is in another state than the edit's base, the edit is a
/// conflict. The write then carries the description's precondition, so that another client cannot
/// come between; 409 and 412 are conflicts with the record as it is then. A deletion that finds no
/// record is done, once the API has been asked for it. A PATCH with the base's version needs no look:
/// the API compares the version.
///
/// If an edit gives a record another key, such as its name, or the API keeps the key in another spelling,
/// the record and all references to it move to that key.
///
/// - Note: Without a precondition, a write of another client between the look and ours is lost.
/// - Note: A type without ``RESTAPI/Collection/push`` refuses every edit.
public final class RESTSink: RemoteRecordSink {
  /// The identity of the source.
  public let identity: String
  /// As the description says.
  public let keepsUnknownMembers: Bool

  private let source: RESTSource
  private static let operation = "pushing edits"

  /// Creates a sink for the API that a source reads.
  ///
  /// It shares the source's credentials, transport and requested pauses.
  public init(_ source: RESTSource) {
    self.source = source
    identity = source.identity
    keepsUnknownMembers = source.api.keepsUnknownMembers
  }

  /// Returns a limit of forty edits, most of which take two requests or more.
  ///
  /// It is one edit where the API makes records: of several, a lost answer would leave all in doubt.
  public func limits() -> SinkLimits {
    let creates = source.api.collections.contains { $0.push?.create != nil }
    return SinkLimits(maximumRecords: creates ? 1 : 40)
  }

  /// Sends changes, as many side by side as ``RESTAPI/Push/atOnce`` allows.
  ///
  /// Changes of records that may refer to each other are sent one after another. Once one has its
  /// outcome, a pause of up to 30 seconds that the server asks for is waited out, and any other failure
  /// leaves the rest for later.
  ///
  /// - Throws: `authentication`, `remoteUnavailable` and the like, if not even one change has an
  ///   outcome.
  public func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    var edits: [RESTEdit] = []
    for change in changes {
      edits.append(try RESTEdit(change, entities[change.id.type] ?? Entity(change.id.type), source))
    }
    let isOrdered = entities.entities.contains { entity in
      entity.references.contains { $0.target == entity.type }
        && changes.contains { $0.id.type == entity.type }
    }
    let width = isOrdered ? 1 : max(1, edits.map(\.push.atOnce).min() ?? 1)
    var outcomes = [PushOutcome?](repeating: nil, count: changes.count)
    var rest = Array(edits.indices)
    var patience = RESTPatience()
    while !rest.isEmpty {
      var failure: SyncError?
      for (place, result) in await Self.send(rest.map { ($0, edits[$0]) }, atOnce: width) {
        switch result {
        case .success(let outcome):
          outcomes[place] = outcome
          patience = RESTPatience()
        case .failure(let error): failure = failure ?? error
        }
      }
      rest.removeAll { outcomes[$0] != nil }
      guard let failure else { continue }
      if outcomes.allSatisfy({ $0 == nil }) { throw failure }
      if await patience.waitsOut(failure, by: source.session.clock) { continue }
      return outcomes.map { $0 ?? .retryLater(after: failure.retryAfter) }
    }
    return outcomes.compactMap(\.self)
  }

  /// Sends edits, some side by side, until one fails; their results in the order of the edits.
  private static func send(
    _ edits: [(Int, RESTEdit)], atOnce width: Int
  ) async -> [(place: Int, result: Result<PushOutcome, SyncError>)] {
    await withTaskGroup(of: (Int, Result<PushOutcome, SyncError>).self) { group in
      var waiting = edits[...]
      func sendNext() {
        guard let (place, edit) = waiting.popFirst() else { return }
        group.addTask { (place, await edit.result(during: operation)) }
      }
      for _ in 0..<width { sendNext() }
      var results: [(place: Int, result: Result<PushOutcome, SyncError>)] = []
      for await (place, result) in group {
        results.append((place, result))
        if case .failure = result { waiting = [] }
        sendNext()
      }
      return results.sorted { $0.place < $1.place }
    }
  }
}

/// One edit on its way: a look at the record, the write, and what became of it.
struct RESTEdit: Sendable {
  let change: OutgoingChange
  let push: RESTAPI.Push
  let records: RESTRecords
  let session: HTTPSession
  private let collection: RESTAPI.Collection
  let content: RESTContent

  init(_ change: OutgoingChange, _ entity: Entity, _ source: RESTSource) throws(SyncError) {
    self.change = change
    let requests = try source.requests(for: change.id.type)
    collection = requests.collection
    push = requests.collection.push ?? RESTAPI.Push()
    content = RESTContent(collection: collection, of: change)
    records = RESTRecords(requests: requests, entity: entity, session: source.session)
    session = source.session
  }

  /// Sends the edit, and returns its outcome or the failure.
  func result(during operation: String) async -> Result<PushOutcome, SyncError> {
    do throws(SyncError) {
      return .success(respelled(try await push(during: operation)))
    } catch {
      return .failure(error)
    }
  }

  /// Sends the edit, and returns its outcome.
  func push(during operation: String) async throws(SyncError) -> PushOutcome {
    if let request = push.create, change.base.record == nil, change.content != .deletion {
      // The API has most likely given a bundled record its key.
      if change.isBundled, let current = try await look(during: operation),
        !current.isTombstone
      {
        return settled(by: current.change) ?? .conflict(current.change)
      }
      return try await create(request, during: operation)
    }
    guard let request = change.content == .deletion ? push.delete : push.write else {
      let member = change.content == .deletion ? "push.delete" : "push.write"
      return .refused(reason: "The description says nothing of it (\(collection.place(member))).")
    }
    guard let address = records.requests.record(change.id.key, path: request.path) else {
      return .refused(reason: "The key cannot be part of an address.")
    }
    if needsNoLook {
      let response = try await write(request, to: address, [:], onto: nil, during: operation)
      // Only these answers mean different things in different states of the record.
      guard [404, 409, 410, 412].contains(response.status) else {
        return try await outcome(of: response, over: nil, during: operation)
      }
      let current = try await look(during: operation)?.change
      if let outcome = settled(by: current) { return outcome }
      return try await outcome(of: response, over: current, during: operation)
    }
    // Without a path of single records, nothing is known of this one.
    let canLook = collection.lookupPath != nil
    let current = try await look(during: operation)
    if current?.record == nil, let outcome = try await moved(nil, during: operation) { return outcome }
    if canLook, let outcome = settled(by: current?.change) {
      guard current == nil, change.content == .deletion, change.base.record != nil else { return outcome }
      return try await proven(outcome, by: request, to: address, during: operation)
    }
    var headers: HTTPHeaders = [:]
    if push.precondition == .etag {
      if !canLook {
        return .refused(
          reason:
            "\(collection.place("push.precondition")) needs \(collection.place("item")), which has the ETag."
        )
      }
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
    let response = try await write(request, to: address, headers, onto: current?.record, during: operation)
    return try await outcome(of: response, over: current?.change, during: operation)
  }

  /// The outcome of a deletion of which a look finds no record: it is sent all the same.
  ///
  /// The copy of the server that answers reads may not have a new record yet.
  private func proven(
    _ done: PushOutcome, by request: RESTAPI.Request, to address: HTTPAddress, during operation: String
  ) async throws(SyncError) -> PushOutcome {
    // There is no tag to send as a precondition.
    if push.precondition == .etag { return done }
    let response = try await write(request, to: address, [:], onto: nil, during: operation)
    let outcome = try await outcome(of: response, over: nil, during: operation)
    // Whatever is said against the deletion of a record that is not there, it is gone.
    if case .refused = outcome { return done }
    return outcome
  }

  /// Looks at the record. One with another spelling of its key comes under the edit's own.
  private func look(during operation: String) async throws(SyncError) -> RESTRecords.Copy? {
    var copy = try await records.look(
      at: change.id.key, takesSpellings: content.hasReadableKey, during: operation)
    switch copy?.change {
    case .upsert(let record)?: copy?.change = .upsert(record.under(change.id))
    case .tombstone(let tombstone)?:
      copy?.change = .tombstone(
        Tombstone(
          id: change.id, version: tombstone.version, entityTag: tombstone.entityTag, stamp: tombstone.stamp))
    case .malformed?, nil: break
    }
    return copy
  }

  /// The outcome for a record that the server keeps under another spelling of the key: it has moved there.
  private func respelled(_ outcome: PushOutcome) -> PushOutcome {
    guard case .accepted(.upsert(let record)) = outcome, let key = content.key(in: record.payload),
      key.isSpelling(of: change.id.key)
    else { return outcome }
    return .moved(record.under(RecordID(type: change.id.type, key: key)))
  }

  /// Whether the API finds out by itself that the record has another state than the edit's base.
  ///
  /// Any other write than a PATCH repeats members that only a look at the record shows.
  private var needsNoLook: Bool {
    guard push.write?.method == "PATCH", change.content != .deletion, !change.mayHaveArrived,
      let version = try? content.comparedVersion(of: change.base.record)
    else { return false }
    return !version.value.elementsEqual("null".utf8)
  }

  private func write(
    _ request: RESTAPI.Request, to address: HTTPAddress, _ precondition: HTTPHeaders, onto current: Record?,
    during operation: String
  ) async throws(SyncError) -> HTTPResponse {
    var headers = precondition
    if change.content != .deletion { headers["Content-Type"] = "application/json" }
    return try await session.send(
      request.method, address, headers: try await records.requests.headers(headers),
      body: try body(onto: current, during: operation), isAboutEdits: true, during: operation)
  }

  /// What is sent: nothing for a deletion, and no key where the API gives one.
  func body(onto current: Record?, during operation: String) throws(SyncError) -> [UInt8] {
    guard let payload = change.content.payload else { return [] }
    let isNew = push.create != nil && change.base.record == nil
    do {
      return try content.sendable(
        payload, key: isNew ? nil : change.id.key, base: change.base.record, onto: current)
    } catch {
      throw SyncError(
        .inconsistentData, during: operation, "The edit of \(change.id) is not a JSON object.",
        underlying: error)
    }
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
    if collection.version == nil { return Tombstone(id: change.id, version: .undated) }
    var version = change.base.version ?? .undated
    version.epoch = 0
    if version.sequence == .min { version = .undated }
    let next = version.modifiedAt + .microseconds(1)
    version.modifiedAt = max(time ?? next, next)
    return Tombstone(id: change.id, version: version)
  }

  /// The outcome of a write, by its answer.
  private func outcome(
    of response: HTTPResponse, over before: RecordChange?, during operation: String
  ) async throws(SyncError) -> PushOutcome {
    switch response.status {
    case 200...299: return try await accepted(response, during: operation)
    case 301, 302, 308:
      return .refused(
        reason: refusal(response, "it names another address\(elsewhere(response)), where no edit is sent"))
    case 303:
      // The effect is unknown: the address elsewhere may be that of the result, or of a page to
      // log in.
      let current = try await look(during: operation)
      return settled(by: current?.change) ?? .retryLater(after: nil)
    case 304:
      // It tells nothing of the effect of a write.
      let current = try await look(during: operation)
      return settled(by: current?.change) ?? withoutEffect(response)
    case 409:
      // A rule of the API that the edit breaks, unless the record has changed.
      return try await settledByLook(during: operation) { current in
        if case .upsert(let record)? = current, isBase(record) {
          return .refused(reason: refusal(response, "the API does not allow this"))
        }
        return .conflict(current)
      }
    case 412:
      return try await settledByLook(during: operation) {
        .conflict($0)
      }
    case 404, 410:
      let isVisible = if case .upsert? = before { true } else { false }
      if change.content == .deletion {
        // A gateway in front of an API that is away knows none of its paths.
        if !isVisible { try await records.demandList(besides: response, during: operation) }
        // Some APIs answer 404 to those who may see a record and not delete it, or for an unknown path.
        let now = isVisible ? try await look(during: operation)?.change : nil
        if let outcome = settled(by: now) { return outcome }
      }
      if isVisible {
        return .refused(reason: refusal(response, "the API shows this record, and takes no writes of it"))
      }
      guard change.base.record == nil else { return .conflict(nil) }
      return .refused(
        reason:
          "The server answered \(response.status) to a new record: the API may assign ids itself, and then takes none of ours."
      )
    case 401, 408, 429:
      throw HTTPFailure.status(response, during: operation, awaited: "an answer to an edit")
    case 403 where RequestedPause.limit(in: response) != nil:
      throw HTTPFailure.status(response, during: operation, awaited: "an answer to an edit")
    case 403:
      return .refused(reason: refusal(response, "these credentials may not write \(change.id.type)"))
    case 405, 501: return .refused(reason: refusal(response, "the API does not allow this"))
    case 413: return .refused(reason: refusal(response, "the record is larger than the server takes"))
    case 507: return .quotaExceeded
    // Another one holds a lock, or it is too early. The next attempt looks whether this one had an effect.
    case 423, 425, 500...599: return .retryLater(after: RequestedPause.retryAfter(in: response))
    case let status:
      return .refused(
        reason: refusal(
          response, HTTPFailure.denial(status) ?? "the server does not accept the record, or its id"))
    }
  }

  /// The reason of a refusal, with the server's own words.
  func refusal(_ response: HTTPResponse, _ meaning: String) -> String {
    "The server answered \(response.status): \(meaning)\(reason(in: response) ?? HTTPFailure.words(of: response))."
  }

  /// The path that a redirect names, as a part of a sentence.
  func elsewhere(_ response: HTTPResponse) -> String {
    let target = response.headers["Location"].flatMap { records.requests.base.resolving($0) }
    return target.map { ", \($0.path)" } ?? ""
  }

  /// What the description's pointer to the reason leads to, as the end of a sentence.
  private func reason(in response: HTTPResponse) -> String? {
    guard let pointer = collection.push?.reason,
      let value = try? pointer.value(in: JSONValueSlice(checking: response.body[...], depthLimit: .max)),
      !value.isNull
    else { return nil }
    let text = value.string() ?? String(decoding: value.bytes, as: UTF8.self)
    return text.isEmpty ? nil : ": \(text.prefix(500))"
  }

  /// The outcome of a write that the server accepted.
  private func accepted(
    _ response: HTTPResponse, during operation: String
  ) async throws(SyncError) -> PushOutcome {
    guard let payload = change.content.payload else {
      switch try await look(during: operation)?.change {
      case .tombstone(let tombstone)?: return .accepted(.tombstone(tombstone))
      case .upsert(let record)? where isBase(record): return withoutEffect(response)
      // Whether the API still lists this state, such as an archived one, a pull tells.
      case .upsert?: return .accepted(.tombstone(deletion(at: nil)))
      case .malformed?, nil: break
      }
      return .accepted(.tombstone(deletion(at: response.headers["Date"].flatMap(HTTPDate.timestamp))))
    }
    // An answer may be anything but the record.
    let answer = try? records.copy(in: response, during: operation)
    if case .upsert(let record)? = answer?.change, record.id == change.id,
      content.isWhole(record.payload, sent: payload, base: change.base.record?.payload), !isUntouched(record)
    {
      return .accepted(.upsert(record))
    }
    let current = try await look(during: operation)?.change
    guard case .upsert(let record)? = current else {
      if let outcome = try await moved(response, during: operation) { return outcome }
      // It has most likely made another key of what the edit says. To repeat the edit, as after a deletion,
      // would make a second record.
      if current == nil, collection.lookupPath != nil, change.base.record != nil {
        return .unknown(
          reason:
            "The server answered \(response.status), and has no record under this key any more: it has perhaps given it another one."
        )
      }
      return .retryLater(after: nil)
    }
    // The answer may be a part of it. Or the API stores it in another form, or keeps a member that was
    // removed. Another attempt would not help: what it has now is what became of the edit.
    if content.holds(record.payload, payload, removedFrom: nil) { return .accepted(.upsert(record)) }
    // What was accepted for later may have its effect later.
    if isBase(record) || response.status == 202 && isUntouched(record) { return withoutEffect(response) }
    if !isUntouched(record) { return .accepted(.upsert(record)) }
    return .refused(
      reason: "The server answered \(response.status), and has left what the edit changes as it was.")
  }

  /// The outcome of an edit that has given its record another key, such as its name; `nil` for none.
  ///
  /// Nothing is left under the former key. The answer has the record or its address, or else the edit has
  /// its key.
  private func moved(
    _ response: HTTPResponse?, during operation: String
  ) async throws(SyncError) -> PushOutcome? {
    guard let payload = change.content.payload else { return nil }
    var record = response.flatMap { (try? records.copy(in: $0, during: operation))?.record }
    let named = response?.headers["Location"].flatMap(records.requests.key) ?? content.newKey
    if record.map({ $0.id == change.id }) ?? true, let named {
      record = try await records.look(at: named, during: operation)?.record
    }
    guard let record, record.id != change.id,
      RESTContent(collection: collection).holds(record.payload, payload, removedFrom: nil)
    else { return nil }
    return .moved(record)
  }

  /// Whether a record has all members that the edit changed as they were.
  private func isUntouched(_ record: Record) -> Bool {
    guard let payload = change.content.payload, let base = change.base.record else { return false }
    return content.isUntouched(record.payload, by: payload, since: base.payload)
  }

  /// The outcome of a write that the server accepted, while it shows the record as it was before.
  ///
  /// It may do its work later, or answer from an older copy, so the next attempt looks again.
  private func withoutEffect(_ response: HTTPResponse) -> PushOutcome {
    if !change.mayHaveArrived { return .unknown(reason: nil) }
    return .refused(reason: "The server answered \(response.status) twice, and shows the record unchanged.")
  }

  /// Looks at the record again: it holds what was sent, or another client's state.
  private func settledByLook(
    during operation: String, otherwise: (RecordChange?) -> PushOutcome
  ) async throws(SyncError) -> PushOutcome {
    let current = try await look(during: operation)?.change
    if case .upsert(let record)? = current, let payload = change.content.payload,
      content.holds(record.payload, payload, removedFrom: change.base.record?.payload)
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

  fileprivate var record: Record? {
    if case .upsert(let record) = change { record } else { nil }
  }
}

extension Record {
  fileprivate func under(_ id: RecordID) -> Record {
    Record(
      id: id, version: version, entityTag: entityTag, schemaVersion: schemaVersion, payload: payload,
      fields: fields)
  }
}
