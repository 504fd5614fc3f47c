import SyncCore
import SyncModels
import SyncPorts

/// Requests of one caller, answered over one state of the store.
struct Exchange {
  let service: KintoService
  let caller: ServiceCaller
  var ledger: Ledger
  /// What edits are written to; `nil` if nothing is.
  var writer: Writer?

  var schema: SyncSchema { ledger.schema }
  var snapshot: any StoreSnapshot { ledger.snapshot }

  enum Writer {
    case origin(any StoreTransaction)
    case gateway(EditBatch)

    var transaction: any StoreTransaction {
      switch self {
      case .origin(let transaction): transaction
      case .gateway(let batch): batch.transaction
      }
    }
  }

  /// Answers each request on its own: what is refused changes nothing.
  mutating func answers(_ calls: [Call]) throws(SyncError) -> [ServiceResponse] {
    var responses: [ServiceResponse] = []
    for call in calls {
      do throws(SyncError) {
        responses.append(try answer(call))
      } catch {
        guard let refusal = Refusal(error) else { throw error }
        responses.append(refusal.response)
      }
    }
    return responses
  }

  private mutating func answer(_ call: Call) throws(SyncError) -> ServiceResponse {
    if let bucket = call.path.bucket, bucket != service.bucket { throw Refusal.forbidden.error }
    guard let type = call.path.type else {
      switch (call.path.resource, call.method) {
      case (.root, _), (.heartbeat, _): return service.root(call, caller)
      case (.buckets, "GET"):
        return .data(.json([bucketJSON]), headers: ["ETag": "\"\(births.max() ?? 1)\""])
      case (.bucket, "GET"), (.bucket, "PUT"): return .resource(bucketJSON, Self.tags(births.min() ?? 1))
      case (.collections, "GET"): return collections()
      case (.batch, _): throw Refusal.wrongMethod.error
      default: throw Refusal.forbidden.error
      }
    }
    let entity = try entity(type, asParent: call.path.resource != .collection)
    switch (call.path.resource, call.method) {
    case (.collection, "GET"), (.collection, "PUT"):
      return .resource(collectionJSON(type), Self.tags(birth(type)), status: call.isNews ? 201 : 200)
    case (.collection, _): throw Refusal.forbidden.error
    case (.records, "GET"): return try list(call, entity)
    case (.records, "POST"): return try create(call, entity)
    case (.records, "DELETE"): return try deleteList(call, entity)
    case (.record(let key), "GET"): return try get(call, key, entity)
    case (.record(let key), "PUT"): return try put(call, key, entity)
    case (.record(let key), "PATCH"): return try patch(call, key, entity)
    case (.record(let key), "DELETE"): return try delete(call, key, entity)
    case (.refusals, "GET"): return try refusals(entity)
    default: throw Refusal.wrongMethod.error
    }
  }

  // MARK: Bucket and collections

  /// The declaration of a collection that the caller may know.
  private func entity(_ type: RecordType, asParent: Bool) throws(SyncError) -> Entity {
    guard isKnown(type) else { throw Refusal.forbidden.error }
    guard let entity = schema[type] else {
      throw Refusal.missing("collection", type.rawValue, asParent: asParent).error
    }
    for scope in [caller.reads(type), caller.writes(type)] {
      if let fields = scope.condition?.fields, !fields.isSubset(of: entity.fields) {
        throw Refusal(500, 999, "The rights of this service name a field that \(type) does not declare.")
          .error
      }
    }
    return entity
  }

  private func isKnown(_ type: RecordType) -> Bool {
    caller.reads(type) != .nothing || caller.writes(type) != .nothing
  }

  private var births: [Int64] { schema.entities.compactMap { ledger.courses[$0.type]?.birth } }

  private func birth(_ type: RecordType) -> Int64 { ledger.courses[type]?.birth ?? 1 }

  private var bucketJSON: [UInt8] {
    .json(["id": .json(service.bucket), "last_modified": .json(births.min() ?? 1)])
  }

  private func collectionJSON(_ type: RecordType) -> [UInt8] {
    .json(["id": .json(type.rawValue), "last_modified": .json(birth(type))])
  }

  private func collections() -> ServiceResponse {
    let types = schema.entities.map(\.type).filter(isKnown).sorted { (birth($0), $0) < (birth($1), $1) }
    let headers = Self.totals(types.count).merging(["ETag": "\"\(births.max() ?? 1)\""]) { $1 }
    return .data(.json(types.map(collectionJSON)), headers: headers)
  }

  /// The edits of a gateway that its remote refuses, and why.
  private func refusals(_ entity: Entity) throws(SyncError) -> ServiceResponse {
    var refusals: [[UInt8]] = []
    var portions = snapshot.portions(outbox: entity.type)
    while let entries = try portions.next() {
      for (entry, record) in zip(entries, try snapshot.records(withIDs: entries.map(\.id))) {
        // A deletion is shown by the copy that it deletes.
        guard case .refused(let reason, let time) = entry.state,
          let known = record ?? entry.base.record?.withFields(of: entity), isVisible(known, entity)
        else { continue }
        refusals.append(
          .json(["id": .json(entry.id.key), "reason": .json(reason), "refused_at": .json(time.milliseconds)]))
      }
    }
    return .data(.json(refusals))
  }

  // MARK: One record

  /// A record as the caller sees it.
  struct Seen {
    let id: RecordID
    /// The copy, if the caller may read it.
    var record: Record?
    var stamp: Int64 = 0
    /// Whether there is one that the caller may not read.
    var isHidden = false

    /// The record and its timestamp as an answer.
    func response(status: Int = 200, fields: Set<String>? = nil) -> ServiceResponse {
      .resource(json(fields) ?? [], Exchange.tags(stamp), status: status)
    }

    func json(_ fields: Set<String>? = nil) -> [UInt8]? {
      record.map { RecordJSON.object($0, stamp: stamp, fields: fields) }
    }
  }

  private func allows(_ record: Record, _ scope: ServiceCaller.Scope, _ entity: Entity) -> Bool {
    switch scope {
    case .nothing: false
    case .everything: true
    case .matching(let condition): condition.isSatisfied(by: record, of: entity)
    }
  }

  func isVisible(_ record: Record, _ entity: Entity) -> Bool {
    allows(record, caller.reads(entity.type), entity)
  }

  private func seen(_ key: String, _ entity: Entity) throws(SyncError) -> Seen {
    let id = RecordID(type: entity.type, key: key)
    guard let record = try snapshot.records(withIDs: [id]).first ?? nil else { return Seen(id: id) }
    guard isVisible(record, entity) else { return Seen(id: id, isHidden: true) }
    return Seen(id: id, record: record, stamp: try ledger.entry(of: id)?.stamp ?? 0)
  }

  private func present(_ key: String, _ entity: Entity) throws(SyncError) -> (seen: Seen, record: Record) {
    let seen = try seen(key, entity)
    if let record = seen.record { return (seen, record) }
    if RecordJSON.isNewID(key) { throw Refusal.missing("record", key).error }
    throw Refusal.parameter("id", "Invalid object id", in: "path").error
  }

  /// Checks `If-Match` and, unless it is answered by 304, `If-None-Match`, as Kinto does.
  private func checkPreconditions(_ call: Call, _ seen: Seen) throws(SyncError) {
    let match = try call.precondition("if-match")
    let noneMatch = call.reads ? nil : try call.precondition("if-none-match")
    let exists = seen.record != nil
    let fails =
      if noneMatch == -1 {
        exists
      } else if let match {
        !exists || match != -1 && match != seen.stamp
      } else {
        exists && noneMatch == seen.stamp
      }
    if fails {
      throw Refusal.modifiedMeanwhile(seen.json(), exists ? seen.stamp : last(seen.id.type)).error
    }
  }

  func last(_ type: RecordType) -> Int64 { ledger.courses[type]?.last ?? 0 }

  static func tags(_ stamp: Int64) -> [String: String] {
    ["ETag": "\"\(stamp)\"", "Last-Modified": Timestamp(milliseconds: stamp).httpDate]
  }

  static func totals(_ count: Int) -> [String: String] {
    ["Total-Objects": "\(count)", "Total-Records": "\(count)"]
  }

  private func get(_ call: Call, _ key: String, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    let seen = try present(key, entity).seen
    if try call.precondition("if-none-match") == seen.stamp {
      return ServiceResponse(status: 304, headers: Self.tags(seen.stamp))
    }
    try checkPreconditions(call, seen)
    return seen.response(fields: try ListQuery(call.pairs).fields)
  }

  private mutating func put(
    _ call: Call, _ key: String, _ entity: Entity
  ) throws(SyncError) -> ServiceResponse {
    let sent = try SentRecord(call.request.body, isOptional: true)
    try sent.check(isOf: key)
    let seen = try seen(key, entity)
    if seen.record == nil, !seen.isHidden, !RecordJSON.isNewID(key) {
      throw Refusal.parameter("id", "Invalid object id", in: "path").error
    }
    if !seen.isHidden { try checkPreconditions(call, seen) }
    return try write(sent.members, over: seen, entity, renews: true)
  }

  private mutating func create(_ call: Call, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    let sent = try SentRecord(call.request.body, isOptional: true)
    let key = sent.id ?? Self.newKey()
    guard RecordJSON.isNewID(key) else {
      throw Refusal.parameter("data.id", "Invalid object id", in: "body").error
    }
    let seen = try seen(key, entity)
    if seen.record == nil { return try write(sent.members, over: seen, entity) }
    try checkPreconditions(call, seen)
    return seen.response()
  }

  private mutating func patch(
    _ call: Call, _ key: String, _ entity: Entity
  ) throws(SyncError) -> ServiceResponse {
    guard call.contentType != "application/json-patch+json" else {
      throw Refusal(415, 107, "A patch is application/json or application/merge-patch+json.").error
    }
    let sent = try SentRecord(call.request.body, isOptional: false)
    let (seen, record) = try present(key, entity)
    try checkPreconditions(call, seen)
    try sent.check(isOf: key)
    guard let old = try? FieldMap(record.payload).withoutServers else {
      throw Refusal(400, 107, "The stored record is no JSON object: replace it whole.").error
    }
    let merges = call.contentType == "application/merge-patch+json"
    return try write(old.patched(by: sent.members, merging: merges), over: seen, entity)
  }

  private mutating func delete(
    _ call: Call, _ key: String, _ entity: Entity
  ) throws(SyncError) -> ServiceResponse {
    let (seen, record) = try present(key, entity)
    try checkPreconditions(call, seen)
    guard allows(record, caller.writes(entity.type), entity) else { throw Refusal.forbidden.error }
    let stamp = try store(nil, of: seen.id, entity).stamp
    return .data(RecordJSON.tombstone(key, stamp: stamp), headers: Self.tags(stamp))
  }

  /// The key of a record whose client has chosen none: a random UUID.
  private static func newKey() -> String {
    var text = ""
    for (place, byte) in (0..<16).map({ _ in UInt8.random(in: 0...255) }).enumerated() {
      if [4, 6, 8, 10].contains(place) { text += "-" }
      let byte = place == 6 ? byte & 0x0f | 0x40 : place == 8 ? byte & 0x3f | 0x80 : byte
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return text
  }

  // MARK: Writing

  /// Writes a record's members, and answers with the record.
  ///
  /// - Parameter renews: Whether the same content gets a new timestamp, as a `PUT` gives it.
  private mutating func write(
    _ members: FieldMap, over seen: Seen, _ entity: Entity, renews: Bool = false
  ) throws(SyncError) -> ServiceResponse {
    var whole = FieldMap()
    whole[scalar: "id"] = .string(seen.id.key)
    for name in members.fields { whole[name] = members[name] }
    var new = Record(id: seen.id, version: .unversioned, payload: whole.payload, fields: [])
    new.payload = entity.keepingImmutable(new.payload, seen.record?.payload)
    new = new.withFields(of: entity)
    // The answer for a record that the caller may not see is the one for a forbidden new record.
    let copies = [seen.record, new].compactMap(\.self)
    guard !seen.isHidden, copies.allSatisfy({ allows($0, caller.writes(entity.type), entity) }) else {
      throw Refusal.forbidden.error
    }
    let (record, stamp) = try store(new, members, of: seen.id, entity, renews: renews)
    return Seen(id: seen.id, record: record, stamp: stamp).response(status: seen.record == nil ? 201 : 200)
  }

  /// Writes a record or, without one, deletes it; returns it as it is then, and its timestamp.
  private mutating func store(
    _ new: Record?, _ members: FieldMap = FieldMap(), of id: RecordID, _ entity: Entity, renews: Bool = false
  ) throws(SyncError) -> (record: Record?, stamp: Int64) {
    var record = new
    switch writer {
    case .origin(let transaction): record = try accept(new, of: id, entity, in: transaction)
    case .gateway(var batch):
      if new == nil {
        try batch.delete(id)
      } else {
        try batch.set(id) { (fields) throws(SyncError) in
          // The members of the upstream's server stay as they are.
          for name in fields.withoutServers.fields where members[name] == nil { fields[name] = nil }
          for name in members.fields { fields[name] = members[name] }
        }
        record = try batch.record(id)
      }
      writer = .gateway(batch)
      if new != nil, record == nil { throw Refusal.missing("record", id.key).error }
    case nil: throw Refusal.wrongMethod.error
    }
    var notes = StoreChanges()
    let stamp = try ledger.note(record, of: id, renews: renews, in: &notes)
    if !notes.isEmpty { try writer?.transaction.apply(notes) }
    return (record, stamp)
  }

  /// Accepts a copy or a deletion as the origin's own; returns the copy as it is kept.
  private func accept(
    _ new: Record?, of id: RecordID, _ entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) -> Record? {
    var changes = StoreChanges()
    (changes.released, changes.dequeued) = ([.record(id)], [id])
    let version = try nextVersion(of: id)
    if var record = new {
      guard let schemaVersion = (try? entity.schemaVersion(of: record.payload)) ?? nil,
        schemaVersion <= entity.schemaVersion
      else {
        throw Refusal.parameter(
          "data", "The schema version is not supported; the service has \(entity.schemaVersion).", in: "body"
        ).error
      }
      if let missing = try snapshot.absent(among: entity.requiredReferences(of: record)).first {
        throw Refusal.parameter(
          "data", "refers to \(missing.type), whose record is not here; write that first", in: "body"
        ).error
      }
      (record.schemaVersion, record.version) = (schemaVersion, version)
      changes.put = [record]
    } else {
      guard try snapshot.referenced(among: [id]).isEmpty else {
        throw Refusal(400, 107, "Other records refer to this one: delete those first.").error
      }
      changes.deleted = [Tombstone(id: id, version: version)]
    }
    try transaction.apply(changes)
    return changes.put.first
  }

  private func nextVersion(of id: RecordID) throws(SyncError) -> Version {
    let now = ledger.now
    guard var known = try snapshot.state(of: id)?.version, known != .unversioned,
      known >= Version(modifiedAt: now)
    else { return Version(modifiedAt: now) }
    known.modifiedAt = max(now, known.modifiedAt + .milliseconds(1))
    return known
  }

  private mutating func deleteList(_ call: Call, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    let query = try ListQuery(call.pairs)
    try checkList(call, query, entity)
    // Without a limit, no page ends the list.
    let isWhole = query.limit == nil && query.token == nil
    var page = isWhole ? Page() : try self.page(call, query, entity, withTombstones: false)
    if isWhole { try visit(query, entity) { page.items.append($0) } }
    for item in page.items {
      guard let record = item.record, allows(record, caller.writes(entity.type), entity) else {
        throw Refusal.forbidden.error
      }
    }
    // Of records that refer to each other, those that refer go first.
    guard try snapshot.referenced(among: page.items.map(\.id)).isEmpty else {
      throw Refusal(400, 107, "Other records refer to some of these: delete those first.").error
    }
    for place in page.items.indices {
      let stamp = try store(nil, of: page.items[place].id, entity).stamp
      page.items[place] = Item(id: page.items[place].id, stamp: stamp)
    }
    page.headers.merge(Self.tags(last(entity.type))) { $1 }
    return page.response()
  }
}
