import SyncCore
import SyncModels
import SyncPorts

/// Checks the rows of one type against every other way to read them.
struct RowCheck: Sendable {
  private let entity: Entity
  private let isInLine: Bool
  private let staying: Set<RecordID>

  /// - Parameters:
  ///   - isInLine: Whether the records follow the declaration, so that none refers to a missing
  ///     one.
  ///   - staying: Records that a changed declaration has not withheld yet, because of edits.
  init(_ entity: Entity, isInLine: Bool, staying: Set<RecordID>) {
    self.entity = entity
    self.isInLine = isInLine
    self.staying = staying
  }

  /// Checks the rows after a key.
  func portion(
    after key: String?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Checked<String> {
    let rows = try snapshot.portion(rows: entity.type, .all, after: key)
    var portion = VerificationWalk.Checked<String>(next: rows.last?.id.key, count: rows.count)
    guard !rows.isEmpty else { return portion }
    let live = rows.compactMap(\.record)
    portion.live = live.count
    portion.unmarked = rows.count { $0.record != nil && !$0.isMarked }
    portion.findings += try lookups(rows, in: snapshot)
    portion.findings += try listing(live, after: key, in: snapshot)
    for record in live { portion.findings += fields(of: record) }
    portion.findings += try references(of: live, in: snapshot)
    portion.findings += try naturalKeys(of: live, in: snapshot)
    portion.findings += try edits(of: rows, in: snapshot)
    return portion
  }

  private func finding(_ id: RecordID, in part: StoreFinding.Part = .rows, _ detail: String) -> StoreFinding {
    StoreFinding(part, type: entity.type, key: id.key, detail)
  }

  /// Compares the rows with what the lookups by id say.
  private func lookups(_ rows: [StoredRow], in snapshot: any StoreSnapshot) throws(SyncError)
    -> [StoreFinding]
  {
    let ids = rows.map(\.id)
    let records = try snapshot.records(withIDs: ids)
    let states = try snapshot.states(of: ids, comparing: rows.map { $0.record?.payload ?? Payload([]) })
    guard records.count == rows.count, states.count == rows.count else {
      return [
        StoreFinding(.rows, type: entity.type, "a lookup of some records returns another number of them")
      ]
    }
    var found: [StoreFinding] = []
    for (row, (record, state)) in zip(rows, zip(records, states)) {
      if record != row.record {
        found.append(finding(row.id, "the lookup by id returns another copy than the listing"))
      }
      guard let state else {
        found.append(finding(row.id, "the row has no state"))
        continue
      }
      if state.version != row.version || state.isDeleted != (row.record == nil)
        || state.isMarked != row.isMarked
      {
        found.append(finding(row.id, "the state differs from the row"))
      }
      if row.record != nil, !state.hasSamePayload {
        found.append(finding(row.id, "the stored payload differs from itself"))
      }
      if let record = row.record, record.version != row.version || record.entityTag != row.entityTag {
        found.append(finding(row.id, "the copy has another version than its row"))
      }
    }
    return found
  }

  /// Compares the live rows with the records that a query returns.
  private func listing(
    _ live: [Record], after key: String?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [StoreFinding] {
    guard let last = live.last else { return [] }
    let queried = try snapshot.portion(
      of: Query(entity.type, afterKey: key, limit: live.count))
    if queried.map(\.id) == live.map(\.id) { return [] }
    return [finding(last.id, "a query up to this record returns other records than the listing")]
  }

  private func fields(of record: Record) -> [StoreFinding] {
    guard let fields = try? entity.fields(of: record.payload) else {
      return [finding(record.id, "the payload is not one JSON object")]
    }
    var found: [StoreFinding] = []
    for (place, name) in entity.fields.enumerated() {
      guard place < record.fields.count, record.fields[place] == fields[place] else {
        found.append(finding(record.id, "the stored value of \(name) differs from the payload"))
        continue
      }
    }
    if record.schemaVersion < 1 { found.append(finding(record.id, "the schema version is below 1")) }
    return found
  }

  private func references(of live: [Record], in snapshot: any StoreSnapshot) throws(SyncError)
    -> [StoreFinding]
  {
    let required = live.map { entity.requiredReferences(of: $0) }
    let targets = Set(required.joined()).sorted()
    guard !targets.isEmpty else { return [] }
    let absent = isInLine ? Set(try snapshot.absent(among: targets)) : []
    let known = try snapshot.referenced(among: targets)
    var found: [StoreFinding] = []
    for (record, targets) in zip(live, required) {
      for target in targets where absent.contains(target) && !staying.contains(record.id) {
        found.append(finding(record.id, in: .references, "it refers to \(target), which is not live"))
      }
      for target in targets where !known.contains(target) {
        found.append(
          finding(record.id, in: .references, "its reference to \(target) is not found from there"))
      }
    }
    return found
  }

  private func naturalKeys(
    of live: [Record], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [StoreFinding] {
    guard let spelling = NaturalKeySpelling(entity) else { return [] }
    let keyed = live.compactMap { record in
      // From the payload, because the stored fields may be damaged as well.
      (try? entity.fields(of: record.payload)).flatMap { spelling.key(of: $0) }.map { (record.id, $0) }
    }
    let lists = try snapshot.records(ofType: entity.type, withNaturalKeys: keyed.map(\.1))
    guard lists.count == keyed.count else {
      return [
        StoreFinding(.naturalKeys, type: entity.type, "a lookup of keys returns another number of lists")
      ]
    }
    return zip(keyed, lists).compactMap { keyed, list in
      list.contains { $0.id == keyed.0 }
        ? nil : finding(keyed.0, in: .naturalKeys, "it is not found by its natural key")
    }
  }

  /// Checks the groups of duplicates after a natural key.
  func sharedKeys(
    after key: String?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Checked<String> {
    let groups = try snapshot.portion(duplicates: entity.type, after: key, limit: VerificationWalk.limit)
    let lists = try snapshot.records(ofType: entity.type, in: groups)
    let found: [StoreFinding] = zip(groups, lists).compactMap { group, records in
      let isShared = records.count > 1 && records.allSatisfy { entity.naturalKey(of: $0) == group.key }
      return isShared
        ? nil
        : StoreFinding(
          .naturalKeys, type: entity.type, key: records.first?.id.key,
          "a natural key is listed as shared, and its records do not share it")
    }
    return VerificationWalk.Checked(next: groups.last?.key, findings: found, count: groups.count)
  }

  /// Compares the rows of edited and withheld records with the edit and the withheld change.
  private func edits(of rows: [StoredRow], in snapshot: any StoreSnapshot) throws(SyncError) -> [StoreFinding]
  {
    let ids = rows.map(\.id)
    var found: [StoreFinding] = []
    let rowsByID = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for entry in try snapshot.outbox(for: ids) {
      guard let row = rowsByID[entry.id] else {
        found.append(finding(entry.id, in: .outbox, "the outbox returns an edit of another record"))
        continue
      }
      if !entry.isShown(by: row, of: entity) {
        found.append(finding(entry.id, in: .outbox, "the row does not show the pending edit on its base"))
      }
    }
    return found
  }
}

extension OutboxEntry {
  /// Whether a row is as the edit leaves it.
  func isShown(by stored: StoredRow, of entity: Entity) -> Bool {
    switch visible(of: entity) {
    case .upsert(let record):
      stored.record.map { $0.payload == record.payload && $0.version == record.version } ?? false
    case .tombstone(let tombstone):
      stored.record == nil && stored.version == tombstone.version
    case .malformed: false
    }
  }
}
