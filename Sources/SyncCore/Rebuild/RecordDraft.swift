import SyncJSON
import SyncModels

/// The members of a live record during an edit.
struct RecordDraft {
  let record: Record
  /// When the last edit was written that the record has inherited; `nil` if it has inherited none.
  private(set) var inherited: EditStamp?
  private var map: FieldMap

  init(_ record: Record) throws(SyncError) {
    self.record = record
    do {
      map = try FieldMap(record.payload)
    } catch {
      throw SyncError(
        .inconsistentData, during: "collapsing duplicates",
        "The stored payload of \(record.id) is not one JSON object: \(error).")
    }
  }

  /// The edit that the draft makes of its record.
  var change: EditWriter.Change {
    EditWriter.Change(
      shown: record, content: .upsert(map.payload, schemaVersion: record.schemaVersion))
  }

  /// Points a reference to another record.
  ///
  /// The value stays a number if it was one and the key can be one.
  ///
  /// - Parameter form: The key's form in JSON, if it is known.
  mutating func point(_ field: FieldName, to id: RecordID, form: ArraySlice<UInt8>? = nil) {
    if let form {
      map[field] = form
      return
    }
    let wasNumber = map[field]?.first.map { $0 != UInt8(ascii: "\"") } ?? false
    if wasNumber, let number = Int64(id.key), number.description.isSameUTF8(as: id.key) {
      map[field] = Array(id.key.utf8)[...]
    } else {
      map[field] = JSONString.quoted(id.key)[...]
    }
  }

  /// Takes over members that this record lacks and the losers have.
  ///
  /// Immutable fields take over the earliest value, whatever the choice.
  ///
  /// - Returns: The number of changes.
  mutating func takeOver(
    from election: Election, _ choice: RebuildOptions.CarryOver, of entity: Entity, referrers: Referrers
  ) -> Int {
    var count = keepImmutable(from: election, of: entity) ? 1 : 0
    for loser in election.losers {
      // A payload that does not parse has no members to take over.
      guard let theirs = try? FieldMap(loser.record.payload) else { continue }
      for field in theirs.fields where choice.includes(field, of: entity) && map.isLacking(field) {
        guard let value = theirs[field], !theirs.isLacking(field) else { continue }
        if take(value, as: field, from: loser.record, of: entity, referrers: referrers) { count += 1 }
      }
    }
    return count
  }
}

extension RecordDraft {
  /// Takes a member of a loser's record, with a reference to a loser pointed to its winner.
  ///
  /// - Returns: `false` for a reference between the records of a group. It means nothing for the one
  ///   record that remains, and is left out.
  private mutating func take(
    _ value: ArraySlice<UInt8>?, as field: FieldName, from theirs: Record, of entity: Entity,
    referrers: Referrers
  ) -> Bool {
    map[field] = value
    guard let former = entity.target(of: field, in: theirs) else { return true }
    let target = referrers.winners[former] ?? former
    if target == record.id {
      map[field] = nil
      return false
    }
    if target != former { point(field, to: target) }
    return true
  }

  /// Takes over what a pending edit of a loser has changed, as the type's policy decides.
  ///
  /// - Parameter stamp: When the record was last written.
  /// - Returns: The conflict of the edit with the record; `nil` if the edit has changed nothing.
  mutating func inherit(
    _ entry: OutboxEntry, over stamp: EditStamp, by settler: EditSettler, referrers: Referrers
  ) -> Conflict? {
    let entity = settler.entity
    guard let base = entry.base.record?.payload, let before = try? FieldMap(base),
      let payload = entry.edit.content.payload, let after = try? FieldMap(payload)
    else { return nil }
    let others = Set(entity.remote.serverManagedFields + entity.immutable)
    let changed = Set(before.fields + after.fields).filter {
      before[$0] != after[$0] && !others.contains($0)
        && RebuildOptions.CarryOver.everyField.includes($0, of: entity)
    }
    if changed.isEmpty { return nil }
    var shown = record
    (shown.payload, shown.fields) = (map.payload, [])
    let decision = PolicyDecision(
      by: settler.policy, entity, record.id, base: base, local: entry.edit, lastWrite: entry.lastWrite,
      .copy(shown), remoteStamp: stamp, at: settler.now)
    var result = after
    switch decision.resolution {
    case .remote: return decision.conflict
    case .local: break
    case .merged(let merged, _): result = (try? FieldMap(merged)) ?? after
    }
    var theirs = record
    theirs.payload = result.payload
    theirs.fields = (try? entity.fields(of: result.payload)) ?? []
    for field in changed {
      _ = take(result[field], as: field, from: theirs, of: entity, referrers: referrers)
    }
    inherited = max(inherited ?? entry.lastWrite, entry.lastWrite)
    return decision.conflict
  }

  /// Takes over the earliest values of immutable fields.
  ///
  /// - Returns: Whether that changed any.
  private mutating func keepImmutable(from election: Election, of entity: Entity) -> Bool {
    guard !entity.immutable.isEmpty else { return false }
    let payload = map.payload
    let kept = election.losers.reduce(payload) { entity.keepingImmutable($0, $1.record.payload) }
    guard kept != payload, let members = try? FieldMap(kept) else { return false }
    map = members
    return true
  }
}

extension RebuildOptions.CarryOver {
  fileprivate func includes(_ field: FieldName, of entity: Entity) -> Bool {
    if field == .editStamp || field == entity.stampField || field == entity.schemaVersionField {
      return false
    }
    return switch self {
    case .nothing: false
    case .everyField: true
    case .fields(let fields): fields.contains(field)
    }
  }
}

extension Entity {
  /// Returns the record that a field refers to, if the field is a reference.
  fileprivate func target(of field: FieldName, in record: Record) -> RecordID? {
    guard let reference = references.first(where: { $0.field == field }),
      case .string(let key)? = fields.firstIndex(of: field).flatMap({ record.fields.element(at: $0) })
    else { return nil }
    return RecordID(type: reference.target, key: key)
  }
}
