import SyncCore
import SyncJSON
import SyncModels
import SyncPorts

/// A request about a collection, answered over one state of the store.
struct Exchange {
  let service: KintoService
  let call: Call
  let caller: ServiceCaller
  let entity: Entity
  var ledger: Ledger
  /// The edits that a write is added to; `nil` for an origin, which accepts it at once.
  var edits: EditBatch?

  var type: RecordType { entity.type }
  var snapshot: any StoreSnapshot { ledger.snapshot }

  /// - Throws: If there is no such collection for the caller.
  init(
    _ service: KintoService, _ call: Call, _ type: RecordType, _ caller: ServiceCaller, _ ledger: Ledger,
    _ edits: EditBatch?
  ) throws(SyncError) {
    guard caller.knows(type) else { throw Refusal.forbidden }
    guard let entity = ledger.schema[type] else {
      throw Refusal.missing("collection", type.rawValue, asParent: call.path.resource != .collection)
    }
    for scope in [caller.reads(type), caller.writes(type)] {
      guard scope.condition?.fields.isSubset(of: entity.fields) ?? true else {
        throw Refusal(500, "The rights of this service name a field that \(type) does not declare.").error
      }
    }
    (self.service, self.call, self.caller, self.entity) = (service, call, caller, entity)
    (self.ledger, self.edits) = (ledger, edits)
  }

  mutating func answer() throws(SyncError) -> ServiceResponse {
    switch (call.path.resource, call.method) {
    case (.collection, "GET"), (.collection, "PUT"):
      return .resource(
        KintoService.json(type, ledger), stamp: ledger.birth(type), status: call.isNews ? 201 : 200)
    case (.collection, _): throw Refusal.forbidden
    case (.records, "GET"): return try list()
    case (.records, "POST"): return try create()
    case (.records, "DELETE"): return try deleteList()
    case (.record(let key), "GET"): return try get(key)
    case (.record(let key), "PUT"): return try put(key)
    case (.record(let key), "PATCH"): return try patch(key)
    case (.record(let key), "DELETE"): return try delete(key)
    case (.refusals, "GET"): return try refusals()
    default: throw Refusal.wrongMethod
    }
  }

  // MARK: What the caller sees

  /// A record as the caller sees it.
  struct Item {
    let id: RecordID
    /// The copy, if there is one that the caller may read.
    var record: Record?
    var stamp: Int64 = 0
    /// Whether there is one that the caller may not read.
    var isHidden = false

    /// The record or, without one, its tombstone.
    func json(_ fields: Set<String>? = nil) -> [UInt8] {
      record.map { RecordJSON.object($0, stamp: stamp, fields: fields) }
        ?? .json(["id": .json(id.key), "last_modified": .json(stamp), "deleted": .json(true)])
    }

    func value(of field: FieldName) -> FieldValue {
      switch field {
      case ListQuery.id: .string(id.key)
      case ListQuery.lastModified: .integer(stamp)
      default: (try? record?.payload.values(of: [field]).first) ?? .null
      }
    }
  }

  func mayRead(_ record: Record) -> Bool { caller.reads(type).contains(record, entity) }

  private func mayWrite(_ record: Record) -> Bool { caller.writes(type).contains(record, entity) }

  private func seen(_ key: String) throws(SyncError) -> Item {
    let id = RecordID(type: type, key: key)
    guard let record = try snapshot.records(withIDs: [id]).first ?? nil else { return Item(id: id) }
    guard mayRead(record) else { return Item(id: id, isHidden: true) }
    return Item(id: id, record: record, stamp: try ledger.entry(of: id)?.stamp ?? 0)
  }

  private func present(_ key: String) throws(SyncError) -> (seen: Item, record: Record) {
    let seen = try seen(key)
    if let record = seen.record { return (seen, record) }
    try checkIsNewID(key, "id", in: "path")
    throw Refusal.missing("record", key)
  }

  private func checkIsNewID(_ key: String, _ name: String, in place: String) throws(SyncError) {
    if !RecordJSON.isNewID(key) { throw Refusal.parameter(name, "Invalid object id", in: place) }
  }

  /// Checks `If-Match` and, unless it is answered by 304, `If-None-Match`, as Kinto does.
  private func checkPreconditions(_ seen: Item) throws(SyncError) {
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
      throw Refusal.modifiedMeanwhile(exists ? seen.json() : nil, exists ? seen.stamp : last)
    }
  }

  /// The greatest timestamp of the collection.
  var last: Int64 { ledger.courses[type]?.last ?? 0 }

  // MARK: One record

  private func get(_ key: String) throws(SyncError) -> ServiceResponse {
    let seen = try present(key).seen
    if try call.precondition("if-none-match") == seen.stamp {
      return ServiceResponse(status: 304, headers: .tags(seen.stamp))
    }
    try checkPreconditions(seen)
    return .resource(seen.json(try ListQuery(call.pairs).fields), stamp: seen.stamp)
  }

  private mutating func put(_ key: String) throws(SyncError) -> ServiceResponse {
    let sent = try SentRecord(call.request.body)
    try sent.check(isOf: key)
    let seen = try seen(key)
    if !seen.isHidden {
      if seen.record == nil { try checkIsNewID(key, "id", in: "path") }
      try checkPreconditions(seen)
    }
    return try write(sent.members, over: seen)
  }

  private mutating func create() throws(SyncError) -> ServiceResponse {
    let sent = try SentRecord(call.request.body)
    let key = sent.id ?? Self.newKey()
    try checkIsNewID(key, "data.id", in: "body")
    let seen = try seen(key)
    if seen.record == nil { return try write(sent.members, over: seen) }
    try checkPreconditions(seen)
    return .resource(seen.json(), stamp: seen.stamp)
  }

  private mutating func patch(_ key: String) throws(SyncError) -> ServiceResponse {
    guard call.contentType != "application/json-patch+json" else {
      throw Refusal(415, "A patch is application/json or application/merge-patch+json.").error
    }
    let sent = try SentRecord(call.request.body, isOptional: false)
    let (seen, record) = try present(key)
    try checkPreconditions(seen)
    try sent.check(isOf: key)
    guard var members = try? FieldMap(record.payload).withoutServers else {
      throw Refusal(400, "The stored record is no JSON object: replace it whole.").error
    }
    members.lay(sent.members, merging: call.contentType == "application/merge-patch+json")
    return try write(members, over: seen)
  }

  private mutating func delete(_ key: String) throws(SyncError) -> ServiceResponse {
    let (seen, record) = try present(key)
    try checkPreconditions(seen)
    guard mayWrite(record) else { throw Refusal.forbidden }
    let deleted = try store(nil, of: seen.id)
    return .data(deleted.json(), headers: .tags(deleted.stamp))
  }

  private mutating func deleteList() throws(SyncError) -> ServiceResponse {
    let query = try ListQuery(call.pairs)
    try checkList(query)
    let page = try page(query)
    guard page.items.allSatisfy({ $0.record.map(mayWrite) ?? false }) else { throw Refusal.forbidden }
    // Of records that refer to each other, those that refer go first.
    guard try snapshot.referenced(among: page.items.map(\.id)).isEmpty else {
      throw Refusal(400, "Other records refer to some of these: delete those first.").error
    }
    var deleted: [Item] = []
    for item in page.items { deleted.append(try store(nil, of: item.id)) }
    return response(deleted, next: page.next)
  }

  /// The key of a record whose client has chosen none: a random UUID.
  private static func newKey() -> String {
    func digits(_ count: Int, of digits: String = "0123456789abcdef") -> String {
      String((0..<count).compactMap { _ in digits.randomElement() })
    }
    return "\(digits(8))-\(digits(4))-4\(digits(3))-\(digits(1, of: "89ab"))\(digits(3))-\(digits(12))"
  }

  /// The edits of a gateway that its remote refuses, and why.
  private func refusals() throws(SyncError) -> ServiceResponse {
    var refusals: [[UInt8]] = []
    var portions = snapshot.portions(outbox: type)
    while let entries = try portions.next() {
      for (entry, record) in zip(entries, try snapshot.records(withIDs: entries.map(\.id))) {
        // A deletion is shown by the copy that it deletes.
        guard case .refused(let reason, let time) = entry.state,
          let known = record ?? entry.base.record?.withFields(of: entity), mayRead(known)
        else { continue }
        refusals.append(
          .json(["id": .json(entry.id.key), "reason": .json(reason), "refused_at": .json(time.milliseconds)]))
      }
    }
    return .data(.json(refusals))
  }

  // MARK: Writing

  /// Writes a record's members, and answers with the record.
  private mutating func write(_ members: FieldMap, over seen: Item) throws(SyncError) -> ServiceResponse {
    var whole = FieldMap()
    whole[scalar: "id"] = .string(seen.id.key)
    whole.lay(members)
    let payload = entity.keepingImmutable(whole.payload, seen.record?.payload)
    let new = Record(id: seen.id, version: .unversioned, payload: payload, fields: []).withFields(of: entity)
    // The answer for a record that the caller may not see is the one for a forbidden new record.
    guard !seen.isHidden, mayWrite(new), seen.record.map(mayWrite) ?? true else { throw Refusal.forbidden }
    let written = try store(new, members, of: seen.id)
    return .resource(written.json(), stamp: written.stamp, status: seen.record == nil ? 201 : 200)
  }

  /// Writes a record or, without one, deletes it; returns it as it is then.
  private mutating func store(
    _ new: Record?, _ members: FieldMap = FieldMap(), of id: RecordID
  ) throws(SyncError) -> Item {
    var record: Record?
    if var batch = edits {
      if new == nil {
        try batch.delete(id)
      } else {
        try batch.set(id) { (fields) throws(SyncError) in
          // The members of the upstream's server stay as they are.
          for name in fields.withoutServers.fields where members[name] == nil { fields[name] = nil }
          fields.lay(members)
        }
        record = try batch.record(id)
      }
      edits = batch
      if new != nil, record == nil { throw Refusal.missing("record", id.key) }
    } else {
      record = try accept(new, of: id)
    }
    var changes = StoreChanges()
    // A `PUT` gives the same content a new timestamp.
    let stamp = try ledger.stamp(record, of: id, renews: call.method == "PUT", in: &changes)
    try ledger.transaction?.apply(changes)
    return Item(id: id, record: record, stamp: stamp)
  }

  /// Accepts a copy or a deletion as the origin's own; returns the copy as it is kept.
  private func accept(_ new: Record?, of id: RecordID) throws(SyncError) -> Record? {
    var version = Version(modifiedAt: ledger.now)
    if var known = try snapshot.state(of: id)?.version, known >= version {
      known.modifiedAt = max(ledger.now, known.modifiedAt + .milliseconds(1))
      version = known
    }
    var changes = StoreChanges()
    (changes.released, changes.dequeued) = ([.record(id)], [id])
    if var record = new {
      guard let schemaVersion = try? entity.schemaVersion(of: record.payload),
        schemaVersion <= entity.schemaVersion
      else {
        let flaw = "The schema version is not supported; the service has \(entity.schemaVersion)."
        throw Refusal.parameter("data", flaw, in: "body")
      }
      if let missing = try snapshot.absent(among: entity.requiredReferences(of: record)).first {
        let flaw = "refers to \(missing.type), whose record is not here; write that first"
        throw Refusal.parameter("data", flaw, in: "body")
      }
      (record.schemaVersion, record.version) = (schemaVersion, version)
      changes.put = [record]
    } else {
      guard try snapshot.referenced(among: [id]).isEmpty else {
        throw Refusal(400, "Other records refer to this one: delete those first.").error
      }
      changes.deleted = [Tombstone(id: id, version: version)]
    }
    try ledger.transaction?.apply(changes)
    return changes.put.first
  }
}
