import SyncCore
import SyncJSON
import SyncModels
import SyncPorts

/// Requests of one caller, answered over one state of the store.
struct Exchange {
  let service: KintoService
  let schema: SyncSchema
  let caller: ServiceCaller
  let snapshot: any StoreSnapshot
  var ledger: Ledger
  let now: Timestamp
  /// What edits are written to; `nil` if nothing is.
  var writer: Writer?

  enum Writer {
    case origin(any StoreTransaction)
    case gateway(EditBatch)
  }

  init(
    _ service: KintoService, _ schema: SyncSchema, _ caller: ServiceCaller, _ snapshot: any StoreSnapshot,
    _ ledger: Ledger, _ now: Timestamp
  ) {
    (self.service, self.schema, self.caller) = (service, schema, caller)
    (self.snapshot, self.ledger, self.now) = (snapshot, ledger, now)
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
    switch call.path {
    case .buckets:
      guard call.reads else { throw Refusal.forbidden.error }
      return .json(RecordJSON.list([bucketJSON]), headers: ["ETag": "\"\(births.max() ?? 1)\""])
    case .bucket(let name):
      guard name == service.bucket, call.reads || call.method == "PUT" else { throw Refusal.forbidden.error }
      return .json(RecordJSON.data(bucketJSON), headers: Self.tags(births.min() ?? 1))
    case .collections(let bucket):
      guard bucket == service.bucket, call.reads else { throw Refusal.forbidden.error }
      return collections()
    case .collection(let bucket, let name):
      let type = try entity(bucket, name, asParent: false).type
      guard call.reads || call.method == "PUT" else { throw Refusal.forbidden.error }
      return .json(
        RecordJSON.data(collectionJSON(type)), status: call.isNews ? 201 : 200,
        headers: Self.tags(ledger.courses[type]?.birth ?? 1))
    case .records(let bucket, let name):
      let entity = try entity(bucket, name)
      switch call.method {
      case "GET", "HEAD": return try list(call, entity)
      case "POST": return try create(call, entity)
      case "DELETE": return try deleteList(call, entity)
      default: throw Refusal.wrongMethod.error
      }
    case .record(let bucket, let name, let key):
      let entity = try entity(bucket, name)
      let id = RecordID(type: entity.type, key: key)
      switch call.method {
      case "GET", "HEAD": return try get(call, id, entity)
      case "PUT": return try put(call, id, entity)
      case "PATCH": return try patch(call, id, entity)
      case "DELETE": return try delete(call, id, entity)
      default: throw Refusal.wrongMethod.error
      }
    case .refusals(let bucket, let name):
      guard call.reads else { throw Refusal.wrongMethod.error }
      return try refusals(try entity(bucket, name))
    case .root, .heartbeat: return service.root(call, caller)
    case .batch: throw Refusal.wrongMethod.error
    }
  }

  // MARK: Bucket and collections

  /// The declaration of a collection that the caller may know.
  private func entity(_ bucket: String, _ name: String, asParent: Bool = true) throws(SyncError) -> Entity {
    let type = RecordType(name)
    guard bucket == service.bucket, isKnown(type) else { throw Refusal.forbidden.error }
    guard let entity = schema[type] else {
      throw Refusal.missing("collection", name, asParent: asParent).error
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

  private var bucketJSON: [UInt8] {
    Array("{\"id\":".utf8) + JSONString.quoted(service.bucket)
      + Array(",\"last_modified\":\(births.min() ?? 1)}".utf8)
  }

  private func collectionJSON(_ type: RecordType) -> [UInt8] {
    Array("{\"id\":".utf8) + JSONString.quoted(type.rawValue)
      + Array(",\"last_modified\":\(ledger.courses[type]?.birth ?? 1)}".utf8)
  }

  private func collections() -> ServiceResponse {
    let types = schema.entities.map(\.type).filter(isKnown).sorted { a, b in
      (ledger.courses[a]?.birth ?? 0, a) < (ledger.courses[b]?.birth ?? 0, b)
    }
    return .json(
      RecordJSON.list(types.map(collectionJSON)),
      headers: [
        "ETag": "\"\(births.max() ?? 1)\"", "Total-Objects": "\(types.count)",
        "Total-Records": "\(types.count)",
      ])
  }

  /// The edits of a gateway that its remote refuses, and why.
  private func refusals(_ entity: Entity) throws(SyncError) -> ServiceResponse {
    var refusals: [[UInt8]] = []
    var last: EditStamp?
    repeat {
      let entries = try snapshot.portion(outbox: entity.type, after: last)
      last = entries.last?.edit.stamp
      let ids = entries.map(\.id)
      for (entry, record) in zip(entries, try snapshot.records(withIDs: ids)) {
        guard case .refused(let reason, let time) = entry.state else { continue }
        // A deletion is shown by the copy that it deletes.
        var known = record ?? entry.base.record
        if record == nil { known = known?.withFields(of: entity) }
        guard let known, allows(known, caller.reads(entity.type), entity) else { continue }
        refusals.append(
          Array("{\"id\":".utf8) + JSONString.quoted(entry.id.key) + Array(",\"reason\":".utf8)
            + JSONString.quoted(reason) + Array(",\"refused_at\":\(time.milliseconds)}".utf8))
      }
    } while last != nil
    return .json(RecordJSON.list(refusals))
  }

  // MARK: One record

  /// A record as the caller sees it.
  struct Seen {
    /// The copy, if the caller may read it.
    var record: Record?
    var stamp: Int64 = 0
    /// Whether there is one that the caller may not read.
    var isHidden = false
  }

  func allows(_ record: Record, _ scope: ServiceCaller.Scope, _ entity: Entity) -> Bool {
    switch scope {
    case .nothing: false
    case .everything: true
    case .matching(let condition): condition.isSatisfied(by: record, of: entity)
    }
  }

  private func seen(_ id: RecordID, _ entity: Entity) throws(SyncError) -> Seen {
    guard let record = try snapshot.records(withIDs: [id]).first ?? nil else { return Seen() }
    guard allows(record, caller.reads(id.type), entity) else { return Seen(isHidden: true) }
    return Seen(record: record, stamp: try ledger.entry(of: id, in: snapshot)?.stamp ?? 0)
  }

  private func present(_ id: RecordID, _ entity: Entity) throws(SyncError) -> (record: Record, stamp: Int64) {
    let seen = try seen(id, entity)
    guard let record = seen.record else {
      if RecordJSON.isNewID(id.key) { throw Refusal.missing("record", id.key).error }
      throw Refusal.parameter("id", "Invalid object id", in: "path").error
    }
    return (record, seen.stamp)
  }

  /// Checks `If-Match` and `If-None-Match` of a request that writes one record, as Kinto does.
  private func checkPreconditions(
    _ call: Call, _ id: RecordID, _ record: Record?, _ stamp: Int64
  ) throws(SyncError) {
    let (match, noneMatch) = (try call.precondition("if-match"), try call.precondition("if-none-match"))
    let fails =
      if noneMatch == -1 {
        record != nil
      } else if let match {
        record == nil || match != -1 && match != stamp
      } else if let noneMatch {
        record != nil && noneMatch == stamp
      } else {
        false
      }
    if fails {
      throw Refusal.modifiedMeanwhile(
        record.map { RecordJSON.object($0, stamp: stamp) }, record == nil ? last(id.type) : stamp
      ).error
    }
  }

  func last(_ type: RecordType) -> Int64 { ledger.courses[type]?.last ?? 0 }

  static func tags(_ stamp: Int64) -> [String: String] {
    ["ETag": "\"\(stamp)\"", "Last-Modified": Timestamp(milliseconds: stamp).httpDate]
  }

  private func get(_ call: Call, _ id: RecordID, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    let (record, stamp) = try present(id, entity)
    if try call.precondition("if-none-match") == stamp {
      return ServiceResponse(status: 304, headers: Self.tags(stamp))
    }
    if let match = try call.precondition("if-match"), match != -1, match != stamp {
      throw Refusal.modifiedMeanwhile(RecordJSON.object(record, stamp: stamp), stamp).error
    }
    let fields = try ListQuery(call.pairs).fields
    return .json(
      RecordJSON.data(RecordJSON.object(record, stamp: stamp, fields: fields)), headers: Self.tags(stamp))
  }

  private mutating func put(_ call: Call, _ id: RecordID, _ entity: Entity) throws(SyncError)
    -> ServiceResponse
  {
    let sent = try SentRecord(call.body, isOptional: true)
    if let named = sent.id, !named.isSameUTF8(as: id.key) {
      throw Refusal.parameter("data.id", "is not the record's id", in: "body").error
    }
    let seen = try seen(id, entity)
    if seen.record == nil, !seen.isHidden, !RecordJSON.isNewID(id.key) {
      throw Refusal.parameter("id", "Invalid object id", in: "path").error
    }
    if !seen.isHidden { try checkPreconditions(call, id, seen.record, seen.stamp) }
    return try write(sent.members, to: id, entity, over: seen, renews: true)
  }

  private mutating func create(_ call: Call, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    let sent = try SentRecord(call.body, isOptional: true)
    let id = RecordID(type: entity.type, key: sent.id ?? Self.newKey())
    guard RecordJSON.isNewID(id.key) else {
      throw Refusal.parameter("data.id", "Invalid object id", in: "body").error
    }
    let seen = try seen(id, entity)
    if let record = seen.record {
      try checkPreconditions(call, id, record, seen.stamp)
      return .json(
        RecordJSON.data(RecordJSON.object(record, stamp: seen.stamp)), headers: Self.tags(seen.stamp))
    }
    return try write(sent.members, to: id, entity, over: seen)
  }

  private mutating func patch(_ call: Call, _ id: RecordID, _ entity: Entity) throws(SyncError)
    -> ServiceResponse
  {
    let type = call.headers["content-type"].map { $0.prefix { $0 != ";" }.lowercased() } ?? "application/json"
    guard type != "application/json-patch+json" else {
      throw Refusal(415, 107, "A patch is application/json or application/merge-patch+json.").error
    }
    let sent = try SentRecord(call.body, isOptional: false)
    let (record, stamp) = try present(id, entity)
    try checkPreconditions(call, id, record, stamp)
    if let named = sent.id, !named.isSameUTF8(as: id.key) {
      throw Refusal.parameter("data.id", "is not the record's id", in: "body").error
    }
    guard var old = try? FieldMap(record.payload) else {
      throw Refusal(400, 107, "The stored record is no JSON object: replace it whole.").error
    }
    (old["id"], old["last_modified"]) = (nil, nil)
    let members = sent.patching(old, merging: type == "application/merge-patch+json")
    return try write(members, to: id, entity, over: Seen(record: record, stamp: stamp))
  }

  private mutating func delete(_ call: Call, _ id: RecordID, _ entity: Entity) throws(SyncError)
    -> ServiceResponse
  {
    let (record, stamp) = try present(id, entity)
    try checkPreconditions(call, id, record, stamp)
    guard allows(record, caller.writes(id.type), entity) else { throw Refusal.forbidden.error }
    let new = try remove(id, entity)
    return .json(
      RecordJSON.data(RecordJSON.tombstone(id.key, stamp: new), permissions: false), headers: Self.tags(new))
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
    _ members: FieldMap, to id: RecordID, _ entity: Entity, over seen: Seen, renews: Bool = false
  ) throws(SyncError) -> ServiceResponse {
    let scope = caller.writes(id.type)
    // The answer for a record that the caller may not see is the one for a forbidden new record.
    if seen.isHidden { throw Refusal.forbidden.error }
    if let old = seen.record, !allows(old, scope, entity) { throw Refusal.forbidden.error }
    var whole = FieldMap()
    whole["id"] = JSONString.quoted(id.key)[...]
    for name in members.fields { whole[name] = members[name] }
    var new = Record(id: id, version: .unversioned, payload: whole.payload, fields: [])
    new.payload = entity.keepingImmutable(new.payload, seen.record?.payload)
    new = new.withFields(of: entity)
    guard allows(new, scope, entity) else { throw Refusal.forbidden.error }
    let record: Record
    switch writer {
    case .origin(let transaction): record = try put(new, entity, in: transaction)
    case .gateway(var batch):
      try batch.set(id) { (fields) throws(SyncError) in
        // The members of the upstream's server stay as they are.
        for name in fields.fields where name != "id" && name != "last_modified" && members[name] == nil {
          fields[name] = nil
        }
        for name in members.fields { fields[name] = members[name] }
      }
      writer = .gateway(batch)
      guard let written = try batch.record(id) else { throw Refusal.missing("record", id.key).error }
      record = written
    case nil: throw Refusal.wrongMethod.error
    }
    guard let transaction else { throw Refusal.wrongMethod.error }
    let stamp = try ledger.note(record, of: id, entity, in: transaction, at: now, renews: renews)
    return .json(
      RecordJSON.data(RecordJSON.object(record, stamp: stamp)), status: seen.record == nil ? 201 : 200,
      headers: Self.tags(stamp))
  }

  private var transaction: (any StoreTransaction)? {
    switch writer {
    case .origin(let transaction): transaction
    case .gateway(let batch): batch.transaction
    case nil: nil
    }
  }

  /// Accepts a copy as the origin's own.
  private func put(_ new: Record, _ entity: Entity, in transaction: any StoreTransaction) throws(SyncError)
    -> Record
  {
    var record = new
    guard let version = (try? entity.schemaVersion(of: new.payload)) ?? nil, version <= entity.schemaVersion
    else {
      throw Refusal.parameter(
        "data", "The schema version is not supported; the service has \(entity.schemaVersion).", in: "body"
      ).error
    }
    let targets = entity.requiredReferences(of: record)
    if let missing = try transaction.absent(among: targets).first {
      throw Refusal.parameter(
        "data", "refers to \(missing.type), whose record is not here; write that first", in: "body"
      )
      .error
    }
    record.schemaVersion = version
    record.version = try nextVersion(of: new.id, in: transaction)
    try transaction.apply {
      $0.released = [.record(new.id)]
      $0.dequeued = [new.id]
      $0.put = [record]
    }
    return record
  }

  private func nextVersion(of id: RecordID, in transaction: any StoreTransaction) throws(SyncError) -> Version
  {
    var version = Version(modifiedAt: now)
    if let known = try transaction.state(of: id)?.version, known != .unversioned, known >= version {
      version = known
      version.modifiedAt = max(now, known.modifiedAt + .milliseconds(1))
    }
    return version
  }

  /// Deletes a record, and returns the deletion's timestamp.
  private mutating func remove(_ id: RecordID, _ entity: Entity) throws(SyncError) -> Int64 {
    switch writer {
    case .origin(let transaction):
      guard try transaction.referenced(among: [id]).isEmpty else {
        throw Refusal(400, 107, "Other records refer to this one: delete those first.").error
      }
      let tombstone = Tombstone(id: id, version: try nextVersion(of: id, in: transaction))
      try transaction.apply {
        $0.released = [.record(id)]
        $0.dequeued = [id]
        $0.deleted = [tombstone]
      }
    case .gateway(var batch):
      try batch.delete(id)
      writer = .gateway(batch)
    case nil: throw Refusal.wrongMethod.error
    }
    guard let transaction else { throw Refusal.wrongMethod.error }
    return try ledger.note(nil, of: id, entity, in: transaction, at: now)
  }

  private mutating func deleteList(_ call: Call, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    let query = try ListQuery(call.pairs)
    try checkList(call, query, entity)
    // Without a limit, no page ends the list.
    var page = Page()
    if query.limit == nil, query.token == nil {
      try visit(query, entity) { page.items.append($0) }
    } else {
      page = try self.page(call, query, entity, withTombstones: false)
    }
    for item in page.items {
      guard let record = item.record, allows(record, caller.writes(entity.type), entity) else {
        throw Refusal.forbidden.error
      }
    }
    // Of records that refer to each other, those that refer go first.
    let ids = page.items.map(\.id)
    guard try snapshot.referenced(among: ids).isEmpty else {
      throw Refusal(400, 107, "Other records refer to some of these: delete those first.").error
    }
    var tombstones: [[UInt8]] = []
    for id in ids { tombstones.append(RecordJSON.tombstone(id.key, stamp: try remove(id, entity))) }
    page.headers.merge(Self.tags(last(entity.type))) { $1 }
    return .json(RecordJSON.list(tombstones), headers: page.headers)
  }
}
