import Foundation
import SyncAdapters

// The code of Docs/WritingAStore.md: the file's content, its reads and its changes.

/// The whole content of a store, decoded for one transaction or one read.
final class JSONFileState: Codable, StoreTransaction {
  private var identity = UUID().uuidString
  var entities: [RecordType: Entity] = [:]
  /// In the order in which their records were added.
  private var rows: [StoredRow] = []
  private var places: [RecordID: Int] = [:]
  private var withheld: [WithheldChange] = []
  private var outbox: [OutboxEntry] = []
  private var conflicts: [Conflict] = []
  private var lastConflict: Int64 = 0
  /// By the bytes of their names, because Swift compares strings by canonical equivalence.
  private var values: [Data: Data] = [:]
  /// The changes of the newest writes; `nil` for many records.
  private var writes: [[RecordID]?] = []
  private var (position, changed): (Int64, Set<RecordID>) = (0, [])
  var fence: Int64 = 0
  /// The end of the last lease; `nil` after it was given back.
  var leaseEnd: Timestamp?
  var hasSent: Bool { outbox.contains { $0.sent != nil } }

  func apply(_ changes: StoreChanges) throws(SyncError) {
    for type in changes.unmarkedTypes {
      _ = try entity(type)
      for place in rows.indices where rows[place].id.type == type { rows[place].isMarked = false }
    }
    for copy in changes.put {
      try change(copy.id) { ($0.record, $0.version, $0.entityTag) = (copy, copy.version, copy.entityTag) }
    }
    for copy in changes.versions where row(copy.id)?.record != nil {
      try change(copy.id, isSeen: false) { row in
        (row.version, row.entityTag) = (copy.version, copy.entityTag)
        row.record?.version = copy.version
        row.record?.entityTag = copy.entityTag
      }
    }
    for gone in changes.deleted {
      try change(gone.id, isSeen: row(gone.id)?.record != nil) {
        ($0.record, $0.version, $0.entityTag) = (nil, gone.version, gone.entityTag)
      }
    }
    let keys = Set(changes.released + changes.withheld.map(\.key))
    withheld = withheld.filter { !keys.contains($0.key) } + changes.withheld
    for id in changes.marked where row(id) != nil { try change(id, isSeen: false) { $0.isMarked = true } }
    let edited = Set(changes.dequeued + changes.queued.map(\.id))
    outbox = outbox.filter { !edited.contains($0.id) } + changes.queued.map(\.withoutFields)
    for var conflict in changes.conflicts {
      if case .malformed = conflict.remote { throw SyncError(.invalidConfiguration, during: "logging") }
      (conflict.number, conflict.remote) = (lastConflict + 1, conflict.remote.withoutFields)
      (lastConflict, conflicts) = (conflict.number, conflicts + [conflict])
    }
    let end = changes.forgottenConflicts ?? Timestamp(microseconds: .min)
    conflicts.removeAll { $0.settledAt < end || changes.removedConflicts.contains($0.number) }
    for value in changes.values { values[Data(value.key.utf8)] = value.bytes.map { Data($0) } }
    changed.formUnion(changes.annotated)
  }

  private func change(
    _ id: RecordID, isSeen: Bool = true, _ body: (inout StoredRow) -> Void
  ) throws(SyncError) {
    _ = try entity(id.type)
    let place = places[id] ?? rows.count
    if place == rows.count {
      rows.append(StoredRow(id: id, version: .unversioned, entityTag: nil, record: nil, isMarked: false))
      places[id] = place
    }
    body(&rows[place])
    if isSeen { changed.insert(id) }
  }

  /// Assigns a position to the transaction if it changed visible records.
  func close() {
    if changed.isEmpty { return }
    writes = Array(writes.suffix(99)) + [changed.count > 256 ? nil : Array(changed)]
    (position, changed) = (position + 1, [])
  }

  /// The declaration of a type, which must be registered.
  private func entity(_ type: RecordType) throws(SyncError) -> Entity {
    if let entity = entities[type] { return entity }
    throw SyncError(.invalidConfiguration, during: "using the store", "\(type) is not registered.")
  }
}

// MARK: Records

extension JSONFileState {
  func storeIdentity() -> String { identity }

  func registeredEntities() -> [Entity] { entities.values.sorted { $0.type < $1.type } }

  func records(_ query: Query) throws(SyncError) -> [Record] {
    let fields = try entity(query.type).fields
    func value(_ name: FieldName, of record: Record) -> FieldValue {
      if let place = fields.firstIndex(of: name) { return record.fields[place] }
      return (try? record.payload.values(of: [name]).first) ?? .null
    }
    let found = live(query.type, after: query.afterKey).filter { record in
      query.condition?.isSatisfied { value($0, of: record) } ?? true
    }
    let sorted = found.sorted { a, b in
      for order in query.order {
        let (x, y) = (order.value(of: value(order.field, of: a)), order.value(of: value(order.field, of: b)))
        if x < y || y < x { return (x < y) != order.isDescending }
      }
      return a.id < b.id
    }
    return Array(sorted.prefix(query.limit ?? .max))
  }

  func count(_ query: Query) throws(SyncError) -> Int {
    try records(Query(query.type, where: query.condition, afterKey: query.afterKey)).count
  }

  func records(withIDs ids: [RecordID]) -> [Record?] { ids.map { row($0)?.record.map(lifted) } }

  func states(of ids: [RecordID], comparing payloads: [Payload]) -> [StoredState?] {
    ids.enumerated().map { place, id in
      guard let row = row(id) else { return nil }
      return StoredState(
        version: row.version, isDeleted: row.record == nil,
        hasSamePayload: !payloads.isEmpty && row.record?.payload == payloads[place], isMarked: row.isMarked)
    }
  }

  func rows(_ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int) -> [StoredRow] {
    let found = rows.filter { row in
      row.id.type == type && (selection == .all || row.record != nil && !row.isMarked)
    }
    var portion = portion(of: found, by: \.id, after: key.map { name(type, $0) }, limit)
    for place in portion.indices { portion[place].record = portion[place].record.map(lifted) }
    return portion
  }

  func referenced(among ids: [RecordID]) -> Set<RecordID> {
    let records = rows.compactMap(\.record).map(lifted)
    return Set(records.flatMap { entities[$0.id.type]?.requiredReferences(of: $0) ?? [] }).intersection(ids)
  }

  func counts(_ type: RecordType, rows: Bool) -> TypeCounts {
    let kinds = withheld.filter { $0.key.type == type }.map { ($0.kind, 1) }
    let marks = self.rows(type, .all, after: nil, limit: .max).filter { $0.record != nil }.map(\.isMarked)
    return TypeCounts(
      withheld: Dictionary(kinds, uniquingKeysWith: +), pending: outbox.count { $0.id.type == type },
      rows: rows ? .init(live: marks.count, unmarked: marks.count { !$0 }) : nil)
  }

  func changes(after start: StorePosition?) -> CommittedChanges {
    let (end, count) = (StorePosition(position), position - (start?.number ?? position))
    let later = writes.suffix(Int(clamping: max(0, count)))
    // An unknown position, writes that are no longer kept, or a write that changed many records.
    let isUnknown = count < 0 || later.count < count || later.contains(nil)
    let ids = Set(later.flatMap { $0 ?? [] }).sorted()
    return CommittedChanges(isUnknown ? .everything : .records(ids), through: end)
  }

  private func row(_ id: RecordID) -> StoredRow? { places[id].map { rows[$0] } }

  /// The live records of a type, by key.
  private func live(_ type: RecordType, after key: String? = nil) -> [Record] {
    rows(type, .all, after: key, limit: .max).compactMap(\.record)
  }

  /// The copy with the currently declared fields; none for an invalid JSON object.
  private func lifted(_ copy: Record) -> Record {
    var copy = copy
    let entity = entities[copy.id.type]
    copy.fields = (try? entity?.fields(of: copy.payload)) ?? entity?.fields.map { _ in .null } ?? []
    return copy
  }

  private func name(_ type: RecordType, _ key: String) -> RecordID { RecordID(type: type, key: key) }

  /// The first elements after a key.
  private func portion<Element, Key: Comparable>(
    of elements: [Element], by key: (Element) -> Key, after: Key?, _ limit: Int
  ) -> [Element] {
    let later = elements.filter { element in after.map { $0 < key(element) } ?? true }
    return Array(later.sorted { key($0) < key($1) }.prefix(max(0, limit)))
  }
}

// MARK: Withheld changes, local edits, natural keys, kept values

extension JSONFileState {
  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    let found = entries.filter { $0.key.type == type && kinds.contains($0.kind) }
    return portion(of: found, by: \.key, after: after, limit)
  }

  func withheld(for keys: [WithheldChange.Key]) -> [WithheldChange] {
    entries.filter { keys.contains($0.key) }
  }

  func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    let ids = Set(ids)
    let found = entries.filter { entry in
      guard kinds.contains(entry.kind) else { return false }
      if relation == .waitingFor { return entry.kind == .parked && !ids.isDisjoint(with: entry.waitsFor) }
      guard case .upsert(let copy) = entry.change, let entity = entities[copy.id.type] else { return false }
      return !ids.isDisjoint(with: entity.allReferences(of: copy))
    }
    return portion(of: found, by: \.key, after: after, limit)
  }

  /// The withheld changes, with the fields of their copies.
  private var entries: [WithheldChange] {
    var entries = withheld
    for (place, entry) in withheld.enumerated() {
      if case .upsert(let copy) = entry.change { entries[place].change = .upsert(lifted(copy)) }
    }
    return entries
  }

  func outbox(for ids: [RecordID]) -> [OutboxEntry] { outbox.filter { ids.contains($0.id) } }

  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) -> [OutboxEntry] {
    portion(of: outbox.filter { $0.id.type == type }, by: \.edit.stamp, after: after, limit)
  }

  func outbox(leaving ids: [RecordID], limit: Int) -> [[OutboxEntry]] {
    ids.map { id in portion(of: outbox.filter { $0.leaves.contains(id) }, by: \.id, after: nil, limit) }
  }

  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) -> [Conflict] {
    let found = conflicts.filter { (type == nil || $0.id.type == type) && $0.number < before ?? .max }
    return Array(found.reversed().prefix(max(0, limit)))
  }

  func duplicates(_ type: RecordType, after key: String?, limit: Int) -> [DuplicateGroup] {
    let groups = namesakes(type).filter { $0.value.count > 1 }.compactMap { name, records in
      DuplicateGroup(key: name.key, places: records.compactMap { places[$0.id].map(Int64.init) })
    }
    return portion(of: groups, by: { name(type, $0.key) }, after: key.map { name(type, $0) }, limit)
  }

  func records(
    ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
  ) -> [[Record]] {
    let namesakes = namesakes(type)
    return keys.map { namesakes[name(type, $0)] ?? [] }
  }

  /// The live records of a type by natural key. Keys compare by bytes, as ids do.
  private func namesakes(_ type: RecordType) -> [RecordID: [Record]] {
    let keyed = live(type).compactMap { record in
      entities[type]?.naturalKey(of: record).map { (name(type, $0), [record]) }
    }
    return Dictionary(keyed, uniquingKeysWith: +)
  }

  func value(forKey key: String) -> [UInt8]? { values[Data(key.utf8)].map { Array($0) } }

  func keys(withPrefix prefix: String, after: String?, limit: Int) -> [String] {
    let bytes = values.keys.filter { $0.starts(with: prefix.utf8) }
    let names = bytes.map { String(decoding: $0, as: UTF8.self) }
    return portion(of: names, by: { name("", $0) }, after: after.map { name("", $0) }, limit)
  }
}
