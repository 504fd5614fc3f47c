import SyncModels

/// What the remote's word does to a record with a pending edit: its row, its outbox entry, and the log.
struct EditSettlement: Hashable {
  /// What the row is to show.
  var row: Row
  /// The entry afterwards; `nil` when nothing is left to push.
  var entry: OutboxEntry?
  /// What is to be logged.
  var conflict: Conflict?
  /// How far ahead of the local clock the remote's stamp was, if it was not believed.
  var disbelieved: Duration?

  /// What a row shows.
  enum Row: Hashable {
    case live(Record)
    case deleted(Tombstone)
  }
}

/// Works out settlements for the records of one type: a pure function of the entry, the remote's word and the time.
struct EditSettler {
  var entity: Entity
  var policy: any MergePolicy
  /// The members that the remote writes itself.
  var ownFields: [FieldName]
  var clockBound: Duration
  var now: Timestamp

  /// The remote has something else than the entry's base.
  ///
  /// It may be what was sent, acknowledged in this way; or what the edit wants anyway; or the base under a new version; or somebody else's edit.
  func meeting(_ word: Word, _ entry: OutboxEntry) -> EditSettlement {
    let entry = entry.taking(ownFields, of: word)
    if word.isSame(as: entry.edit.content) { return settled(by: word) }
    if let sent = entry.sent, word.fulfils(sent.content, on: entry.base) {
      guard sent != entry.edit else { return settled(by: word) }
      if word.isSame(as: sent.content) { return rebased(entry, onto: word) }
      // Somebody went on from what was sent, and so did the edit.
      return settle(entry, word, since: sent.content.payload)
    }
    if word.isSame(as: entry.base) { return rebased(entry, onto: word) }
    return settle(entry, word, since: entry.base.record?.payload)
  }

  /// The remote took what was sent, before the edit that is there now, and this is what it made of it.
  func acknowledged(_ entry: OutboxEntry, by word: Word) -> EditSettlement {
    rebased(entry.taking(ownFields, of: word), onto: word)
  }

  // MARK: Endings

  private func settled(by word: Word) -> EditSettlement {
    EditSettlement(row: word.row)
  }

  /// The edit stays, on top of the remote's word.
  private func rebased(
    _ entry: OutboxEntry, onto word: Word, as content: Edit.Content? = nil
  ) -> EditSettlement {
    var entry = entry
    entry.base = word.base
    entry.sent = nil
    entry.attempts = 0
    entry.state = .waiting
    if let content { entry.edit.content = content }
    return EditSettlement(row: entry.row(of: entity), entry: entry)
  }

  /// Lets the policy decide.
  ///
  /// - Parameter base: What both the edit and the word started from.
  private func settle(_ entry: OutboxEntry, _ word: Word, since base: Payload?) -> EditSettlement {
    let (stamp, disbelieved) = entity.stamp(
      in: word.payload, takenAt: word.version.modifiedAt, at: now, clockBound: clockBound)
    let clash = Clash(
      id: entry.id, base: base,
      local: Write(entry.edit.content.payload, stamp: entry.edit.stamp),
      remote: Write(word.payload, stamp: stamp))
    var conflict = Conflict(
      id: entry.id, settledAt: now, local: entry.edit, remote: word.change, remoteStamp: stamp,
      base: clash.base, winner: .remote, reason: "")
    var settlement: EditSettlement
    switch policy.settle(clash) {
    case .remote(let reason):
      conflict.reason = reason
      settlement = settled(by: word)
    case .local(let reason):
      (conflict.winner, conflict.reason) = (.local, reason)
      settlement = rebased(entry, onto: word)
    case .merged(let payload, let reason):
      conflict.reason = reason
      let schema = max(entry.edit.content.schemaVersion ?? 1, word.schemaVersion ?? 1)
      let content = Edit.Content.upsert(
        entity.stamped(payload, max(entry.edit.stamp, stamp)), schemaVersion: schema)
      if word.isSame(as: content) {
        settlement = settled(by: word)
      } else {
        conflict.winner = .merged
        settlement = rebased(entry, onto: word, as: content)
      }
    }
    settlement.conflict = conflict
    settlement.disbelieved = disbelieved
    return settlement
  }
}

extension Entity {
  /// The stamp of the remote's word as far as it is believed, and how far ahead of the local clock it was if it was not.
  func stamp(
    in payload: Payload?, takenAt instant: Timestamp, at now: Timestamp, clockBound: Duration
  ) -> (believed: EditStamp, disbelieved: Duration?) {
    let modified = EditStamp(physical: instant)
    let stated = payload.flatMap { stamp(in: $0) } ?? modified
    let limit = now + clockBound
    if stated.physical <= limit { return (stated, nil) }
    let believed = modified.physical <= limit ? modified : EditStamp(physical: now)
    return (believed, stated.physical.duration(since: now))
  }

  /// The stamp that a payload carries, if the type declares where and there is one.
  func stamp(in payload: Payload) -> EditStamp? {
    guard let stampField, case .string(let text)? = try? payload.values(of: [stampField]).first else {
      return nil
    }
    return EditStamp(text)
  }

  /// The payload with a stamp, if the type declares where.
  func stamped(_ payload: Payload, _ stamp: EditStamp) -> Payload {
    guard let stampField, var map = try? FieldMap(payload) else { return payload }
    map[stampField] = JSONString.quoted(stamp.description)[...]
    return map.payload
  }
}

extension OutboxEntry {
  /// What the record's row shows while the edit is pending: the edit, at the base's version.
  func row(of entity: Entity) -> EditSettlement.Row {
    let version = base.version ?? .unversioned
    switch edit.content {
    case .deletion:
      return .deleted(Tombstone(id: id, version: version, entityTag: base.entityTag))
    case .upsert(let payload, let schemaVersion):
      // What an edit holds was read when it was made.
      let fields = (try? entity.fields(of: payload)) ?? []
      return .live(
        Record(
          id: id, version: version, entityTag: base.entityTag, schemaVersion: schemaVersion,
          payload: payload, fields: fields))
    }
  }
}

extension OutboxEntry.Base {
  /// What the record's row shows once nothing is pending on top: the remote's last word, byte by byte.
  func row(of id: RecordID, _ entity: Entity) -> EditSettlement.Row {
    switch self {
    case .copy(var record):
      record.fields = (try? entity.fields(of: record.payload)) ?? []
      return .live(record)
    case .deleted(let tombstone): return .deleted(tombstone)
    case .none: return .deleted(Tombstone(id: id, version: .unversioned))
    }
  }

  /// The remote's name for its last word.
  var entityTag: String? {
    switch self {
    case .none: nil
    case .copy(let record): record.entityTag
    case .deleted(let tombstone): tombstone.entityTag
    }
  }
}

extension Edit.Content {
  var schemaVersion: Int? {
    if case .upsert(_, let schemaVersion) = self { schemaVersion } else { nil }
  }
}
