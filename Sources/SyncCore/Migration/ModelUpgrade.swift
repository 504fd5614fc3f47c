public import SyncModels

/// How records of one type become those of a newer version of the app's model.
///
/// ```swift
/// let upgrade = ModelUpgrade("notes", to: 2) { note in  // "name" is "title" now
///   if note["title"] == nil { note["title"] = note["name"] }
///   note["name"] = nil
/// }
/// ```
///
/// An engine with upgrades converts what the store has once, by ``SyncEngine/upgradeModels(token:)`` or
/// at the beginning of a sync: records, pending edits with their bases, and withheld copies. After
/// that it converts each copy of an older version as it arrives, because the remote and other
/// devices may keep such copies. Nothing is pushed because of a conversion, but an edit of a converted
/// record is pushed in the new form. An edit that was sent and not answered is sent again as it was.
public struct ModelUpgrade: Sendable {
  /// The type of the records.
  public var type: RecordType
  /// The schema version that the records have afterwards, 2 or more.
  ///
  /// Upgrades of one type follow each other in the order of their versions.
  public var version: Int
  let convert: @Sendable (inout FieldMap) throws -> Void

  /// Creates an upgrade.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - version: The schema version that the records have afterwards.
  ///   - convert: Converts the members of a record, which are JSON. It gets the records of older
  ///     versions. For a type without ``Entity/schemaVersionField`` it gets every copy that arrives,
  ///     so it has to leave new ones as they are. If it throws, the record stays as it is and is
  ///     reported; keep other effects out of it.
  public init(
    _ type: RecordType, to version: Int, _ convert: @escaping @Sendable (inout FieldMap) throws -> Void
  ) {
    self.type = type
    self.version = version
    self.convert = convert
  }
}

/// What ``SyncEngine/upgradeModels(token:)`` did.
public struct UpgradeReport: Hashable, Sendable {
  /// The records that were converted, of all kinds.
  public var converted = 0
  /// The records that could not be converted, with the reasons. They stay as they are.
  public var failed: [Undecodable] = []
  /// Whether the upgrade stopped on request; the next call or sync resumes it.
  public var wasCancelled = false
}

/// All upgrades of an engine.
struct ModelUpgrades: Sendable {
  private var steps: [RecordType: [ModelUpgrade]] = [:]

  init() {}

  /// - Throws: `invalidConfiguration` for an upgrade of an undeclared type, of a version that the type
  ///   does not reach, and for two of one version.
  init(_ upgrades: [ModelUpgrade], of schema: SyncSchema) throws(SyncError) {
    for upgrade in upgrades.sorted(by: { $0.version < $1.version }) {
      let entity = try schema.entity(upgrade.type, during: "setting up the upgrades")
      guard (2...max(2, entity.schemaVersion)).contains(upgrade.version), entity.schemaVersion >= 2,
        steps[upgrade.type]?.last?.version != upgrade.version
      else {
        throw SyncError(
          .invalidConfiguration, during: "setting up the upgrades",
          """
          An upgrade leads \(upgrade.type) to schema version \(upgrade.version). Declare one for each version \
          from 2 to \(entity.schemaVersion), the version of the type.
          """)
      }
      steps[upgrade.type, default: []].append(upgrade)
    }
  }

  /// Whether no type has upgrades.
  var isEmpty: Bool { steps.isEmpty }

  /// Whether the type has upgrades.
  func concern(_ type: RecordType) -> Bool { steps[type] != nil }

  /// Converts a copy to the version of its declaration; `nil` if it needs none.
  ///
  /// The member with the schema version stays as the remote has it, so that an edit changes it there.
  func converted(_ record: Record, _ entity: Entity) throws(Undecodable) -> Record? {
    guard record.schemaVersion < entity.schemaVersion else { return nil }
    guard
      let fields = try fields(of: record.payload, from: record.schemaVersion, record.id, entity)
    else { return nil }
    var record = record
    // Without a member for it, no version tells of the conversion.
    if entity.schemaVersionField != nil { record.schemaVersion = entity.schemaVersion }
    if fields.isChanged { record.payload = fields.map.payload }
    return record.withFields(of: entity)
  }

  /// Converts the content of an edit; `nil` if it needs none.
  func converted(_ content: Edit.Content, _ id: RecordID, _ entity: Entity) throws(Undecodable) -> Edit
    .Content?
  {
    guard case .upsert(let payload, let version) = content, version < entity.schemaVersion,
      let fields = try fields(of: payload, from: version, id, entity)
    else { return nil }
    return .upsert(
      entity.written(fields.map.payload),
      schemaVersion: entity.schemaVersionField == nil ? version : entity.schemaVersion)
  }

  /// Converts a change that arrives. One that cannot be converted stays as it is, and is told.
  func arriving(_ change: RecordChange, _ entity: Entity, _ emit: (SyncEvent) -> Void) -> RecordChange {
    guard case .upsert(let record) = change, concern(entity.type) else { return change }
    do throws(Undecodable) {
      return .upsert(try converted(record, entity) ?? record)
    } catch {
      emit(.undecodable(error.id, reason: error.reason))
      return change
    }
  }

  private func fields(
    of payload: Payload, from version: Int, _ id: RecordID, _ entity: Entity
  ) throws(Undecodable) -> (map: FieldMap, isChanged: Bool)? {
    let due = (steps[id.type] ?? []).filter { $0.version > version && $0.version <= entity.schemaVersion }
    if due.isEmpty { return nil }
    do {
      let stored = try FieldMap(payload)
      var fields = stored
      for step in due { try step.convert(&fields) }
      if let field = entity.schemaVersionField { fields[field] = stored[field] }
      try EditBatch.checkIsPortable(fields, unlike: stored, id)
      return (fields, fields.payload != stored.payload)
    } catch {
      throw Undecodable(id: id, reason: "It cannot be upgraded: \(CodingFlaw(error))")
    }
  }
}

extension Entity {
  /// A payload as an edit of this version writes it.
  func written(_ payload: Payload) -> Payload {
    guard let field = schemaVersionField, var fields = try? FieldMap(payload) else { return payload }
    fields[field] = Array("\(schemaVersion)".utf8)[...]
    return fields.payload
  }
}

extension RunEnvironment {
  /// An answer to a push, with the remote's copy in the form of the app's version.
  func upgraded(_ outcome: PushOutcome) -> PushOutcome {
    func upgraded(_ change: RecordChange) -> RecordChange {
      guard let entity = change.id.flatMap({ schema[$0.type] }) else { return change }
      return upgrades.arriving(change, entity, emit)
    }
    switch outcome {
    case .accepted(let change): return .accepted(upgraded(change))
    case .conflict(let change?): return .conflict(upgraded(change))
    case .moved(let record):
      if case .upsert(let record) = upgraded(.upsert(record)) { return .moved(record) }
      return outcome
    case .conflict(nil), .unknown, .refused, .retryLater, .quotaExceeded, .notApplied: return outcome
    }
  }
}

// An upgrade converts the bases of edits too, which a sink compares with what the remote has: a member that
// the upgrade has made would count as known there, and would not be sent.
extension RunEnvironment {
  /// Returns a change as a sink gets it: on a base of which no member is known to be at the remote, if an
  /// upgrade has converted it.
  ///
  /// The fields that the remote manages stay, because sinks compare versions by them. Without a version, the
  /// base is all that shows another client's write: see ``onCopy(of:_:)``.
  func onRemoteForm(_ change: OutgoingChange) -> OutgoingChange {
    guard change.content != .deletion, case .copy(var base) = change.base, !base.version.isUndated,
      let entity = schema[change.id.type], upgrades.concern(entity.type),
      let version = try? entity.schemaVersion(of: base.payload), version < base.schemaVersion,
      let members = try? FieldMap(base.payload)
    else { return change }
    var known = FieldMap()
    for field in entity.remote.serverManagedFields { known[field] = members[field] }
    base.payload = known.payload
    var change = change
    change.base = .copy(base)
    return change
  }

  /// Returns a change on the copy with which it is said to be in conflict, if that copy is its base as it was
  /// before the upgrade.
  func onCopy(of outcome: PushOutcome, _ change: OutgoingChange) -> OutgoingChange? {
    guard case .conflict(.upsert(let copy)?) = outcome, case .copy(let base) = change.base,
      copy.payload != base.payload, let entity = schema[change.id.type],
      let converted = try? upgrades.converted(copy, entity),
      converted.payload.hasSameMembers(as: base.payload)
    else { return nil }
    var change = change
    change.base = .copy(copy)
    return change
  }
}
