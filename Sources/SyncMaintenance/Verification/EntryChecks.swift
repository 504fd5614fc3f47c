import SyncCore
import SyncJSON
import SyncModels
import SyncPorts

/// Checks the pending edits of one type.
struct OutboxCheck: Sendable {
  private let entity: Entity

  init(_ entity: Entity) {
    self.entity = entity
  }

  /// Checks the edits after a stamp.
  func portion(
    after stamp: EditStamp?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Checked<EditStamp> {
    let entries = try snapshot.portion(outbox: entity.type, after: stamp)
    var found: [StoreFinding] = []
    func report(_ entry: OutboxEntry, _ detail: String) {
      found.append(StoreFinding(.outbox, type: entity.type, key: entry.id.key, detail))
    }
    let known = Set(try snapshot.outbox(for: entries.map(\.id)))
    let states = try snapshot.states(of: entries.map(\.id), comparing: [])
    for (entry, state) in zip(entries, states) {
      if !known.contains(entry) { report(entry, "the lookup by id returns another edit than the listing") }
      if state == nil { report(entry, "the edited record has no row") }
      for payload in entry.payloads where !payload.isObject {
        report(entry, "a payload of the edit or its base is not one JSON object")
      }
    }
    // Many edits may leave one record.
    let left = Set(entries.flatMap(\.leaves)).sorted()
    var leaving: [RecordID: Set<RecordID>] = [:]
    if !left.isEmpty {
      for (id, list) in zip(left, try snapshot.outbox(leaving: left, limit: .max)) {
        leaving[id] = Set(list.map(\.id))
      }
    }
    for entry in entries {
      for id in entry.leaves where leaving[id]?.contains(entry.id) != true {
        report(entry, "the edit is not found from a record that it leaves")
      }
    }
    return VerificationWalk.Checked(next: entries.last?.edit.stamp, findings: found, count: entries.count)
  }
}

/// Checks the withheld changes of one type.
struct WithheldCheck: Sendable {
  private let entity: Entity

  init(_ entity: Entity) {
    self.entity = entity
  }

  /// Checks the changes after a key.
  func portion(
    after key: WithheldChange.Key?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Checked<WithheldChange.Key> {
    let entries = try snapshot.portion(withheld: entity.type, Set(WithheldChange.Kind.allCases), after: key)
    var found: [StoreFinding] = []
    func report(_ entry: WithheldChange, _ detail: String) {
      found.append(StoreFinding(.withheld, type: entity.type, key: entry.change.id?.key, detail))
    }
    let known = Set(try snapshot.withheld(for: entries.map(\.key)))
    for entry in entries {
      if !known.contains(entry) { report(entry, "the lookup by key returns another change than the listing") }
      if let flaw = entry.flaw { report(entry, flaw) }
    }
    for relation in WithheldChange.Relation.allCases {
      var related: [RecordID: Set<WithheldChange.Key>] = [:]
      for entry in entries {
        for target in targets(of: entry, by: relation) {
          if related[target] == nil {
            related[target] = try keys(relation, target, after: key, upTo: entries.last?.key, in: snapshot)
          }
          if related[target]?.contains(entry.key) != true {
            report(entry, "the change is not found from \(target), which it \(relation.words)")
          }
        }
      }
    }
    return VerificationWalk.Checked(next: entries.last?.key, findings: found, count: entries.count)
  }

  private func targets(of entry: WithheldChange, by relation: WithheldChange.Relation) -> [RecordID] {
    switch relation {
    case .waitingFor: return entry.kind == .parked ? entry.waitsFor : []
    case .referringTo:
      guard entry.kind != .staged, case .upsert(var record) = entry.change,
        let fields = try? entity.fields(of: record.payload)
      else { return [] }
      record.fields = fields
      return entity.allReferences(of: record)
    }
  }

  /// The keys of changes that depend on a record, within one portion.
  private func keys(
    _ relation: WithheldChange.Relation, _ target: RecordID, after start: WithheldChange.Key?,
    upTo end: WithheldChange.Key?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<WithheldChange.Key> {
    // Keys of records are never empty, so all of the type's come after the empty one.
    var place = start ?? .record(RecordID(type: entity.type, key: ""))
    var keys: Set<WithheldChange.Key> = []
    while true {
      let portion = try snapshot.portion(
        related: relation, [target], Set(WithheldChange.Kind.allCases), after: place)
      keys.formUnion(portion.map(\.key))
      guard let last = portion.last?.key, let end, last < end else { return keys }
      place = last
    }
  }
}

extension WithheldChange {
  /// A contradiction within the entry; `nil` for none.
  fileprivate var flaw: String? {
    if case .record(let id) = key, let changed = change.id, changed != id {
      return "the change is of another record than its key"
    }
    switch (kind, change) {
    case (.parked, .upsert(let record)), (.incompatible, .upsert(let record)), (.hidden, .upsert(let record)):
      if kind == .parked, waitsFor.isEmpty { return "a parked copy waits for nothing" }
      return record.payload.isObject ? nil : "the payload is not one JSON object"
    case (.parked, _), (.incompatible, _), (.hidden, _): return "the change is not the copy of a record"
    case (.held, .upsert), (.held, .malformed): return "a held deletion is not one"
    default: return nil
    }
  }
}

extension WithheldChange.Relation {
  fileprivate var words: String {
    switch self {
    case .referringTo: "refers to"
    case .waitingFor: "waits for"
    }
  }
}

/// Checks the log of conflicts.
enum ConflictCheck {
  /// Checks the conflicts before a number.
  static func portion(
    before number: Int64?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Checked<Int64> {
    let conflicts = try snapshot.portion(conflicts: nil, before: number, limit: VerificationWalk.limit)
    var found: [StoreFinding] = []
    for conflict in conflicts {
      func report(_ detail: String) {
        found.append(StoreFinding(.conflicts, type: conflict.id.type, key: conflict.id.key, detail))
      }
      if conflict.remote.id != conflict.id { report("the remote side is of another record") }
      var payloads = [conflict.local.content.payload, conflict.base].compactMap(\.self)
      if case .upsert(let record) = conflict.remote { payloads.append(record.payload) }
      if !payloads.allSatisfy(\.isObject) { report("a payload of the conflict is not one JSON object") }
    }
    return VerificationWalk.Checked(
      next: conflicts.last?.number, findings: found, count: conflicts.count)
  }
}

extension OutboxEntry {
  /// The payloads of the edit, its base and what was sent.
  var payloads: [Payload] {
    [edit.content.payload, base.record?.payload, sent?.content.payload].compactMap(\.self)
  }
}

extension Payload {
  /// Whether the bytes are one JSON object.
  var isObject: Bool {
    (try? JSONScanner.members(of: bytes) { _ in }) != nil
  }
}

/// Checks the declarations of a store.
enum SchemaCheck {
  static func findings(_ entities: [Entity]) -> [StoreFinding] {
    var found: [StoreFinding] = []
    for (type, same) in Dictionary(grouping: entities, by: \.type) where same.count > 1 {
      found.append(StoreFinding(.schema, type: type, "the type is declared \(same.count) times"))
    }
    return found
  }
}

/// Compares the store's counts with what they count.
enum CountCheck {
  /// The numbers of rows that a walk has met.
  struct Walked: Sendable {
    var live = 0
    var unmarked = 0

    mutating func add(_ portion: VerificationWalk.Checked<String>) {
      live += portion.live
      unmarked += portion.unmarked
    }
  }

  /// The position of the last visible change; `nil` if the store cannot tell.
  static func position(_ store: any LocalStore) async throws(SyncError) -> StorePosition? {
    do throws(SyncError) {
      return try await store.read { (snapshot) throws(SyncError) in
        try snapshot.changes(after: nil).position
      }
    } catch {
      guard error.isOfDamage else { throw error }
      return nil
    }
  }

  /// Counts the withheld changes and the pending edits of a type.
  static func entries(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> [StoreFinding]
  {
    let counts = try snapshot.counts(type, rows: false)
    var found: [StoreFinding] = []
    var pending = 0
    var edits = snapshot.portions(outbox: type)
    while let entries = try edits.next() { pending += entries.count }
    if pending != counts.pending {
      found.append(
        StoreFinding(
          .counts, type: type, "the outbox has \(pending) edits, and its count is \(counts.pending)"))
    }
    for kind in WithheldChange.Kind.allCases {
      var withheld = 0
      var changes = snapshot.portions(withheld: type, [kind])
      while let entries = try changes.next() { withheld += entries.count }
      let count = counts.withheld[kind, default: 0]
      if withheld != count {
        found.append(
          StoreFinding(
            .counts, type: type,
            "\(Counted(withheld, "change is", "changes are")) \(kind.rawValue), and the count is \(count)"))
      }
    }
    return found
  }

  /// Compares the number of rows with the store's own count.
  ///
  /// - Parameter walked: The rows of a walk through this state; `nil` to walk through this
  ///   snapshot.
  static func rows(
    of type: RecordType, _ walked: Walked?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [StoreFinding] {
    var counted = walked ?? Walked()
    if walked == nil {
      var key: String?
      while true {
        let rows = try snapshot.portion(rows: type, .all, after: key)
        guard let end = rows.last else { break }
        key = end.id.key
        counted.live += rows.count { $0.record != nil }
        counted.unmarked += rows.count { $0.record != nil && !$0.isMarked }
      }
    }
    guard let rows = try snapshot.counts(type, rows: true).rows else {
      return [StoreFinding(.counts, type: type, "the store counts no rows")]
    }
    var found: [StoreFinding] = []
    if rows.live != counted.live {
      found.append(
        StoreFinding(.counts, type: type, "\(counted.live) records are live, and the count is \(rows.live)"))
    }
    let queried = try snapshot.count(Query(type))
    if queried != counted.live {
      found.append(
        StoreFinding(.counts, type: type, "\(counted.live) records are live, and a query counts \(queried)"))
    }
    // Marks are written without a visible change, so only a walk of this snapshot can count them.
    if walked == nil, rows.unmarked != counted.unmarked {
      found.append(
        StoreFinding(
          .counts, type: type,
          "\(counted.unmarked) live records have no mark, and the count is \(rows.unmarked)"))
    }
    return found
  }
}

/// Checks the values that the engine keeps under keys.
enum ValueCheck {
  /// Checks the values after a key.
  static func portion(
    after key: String?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Checked<String> {
    let keys = try snapshot.portion(keys: "", after: key)
    let identity = try snapshot.storeIdentity()
    var found: [StoreFinding] = []
    if key == nil, identity.isEmpty { found.append(StoreFinding(.values, "the store has no identity")) }
    for key in keys {
      guard let bytes = try snapshot.value(forKey: key) else {
        found.append(StoreFinding(.values, key: key, "the key is listed and has no value"))
        continue
      }
      if let flaw = flaw(key, bytes, identity) { found.append(StoreFinding(.values, key: key, flaw)) }
    }
    return VerificationWalk.Checked(next: keys.last, findings: found, count: keys.count)
  }

  private static func flaw(_ key: String, _ bytes: [UInt8], _ identity: String) -> String? {
    if key.hasPrefix(Checkpoint.keyPrefix) {
      guard let checkpoint = try? Checkpoint(json: bytes) else {
        return "the checkpoint cannot be read"
      }
      return checkpoint.scope.store == identity ? nil : "the checkpoint is of another store"
    }
    // A few values are single bytes; the others are JSON.
    if bytes.count == 1 { return nil }
    return (try? JSONScanner.validate(bytes[...])) == nil ? "the value is not JSON" : nil
  }
}
