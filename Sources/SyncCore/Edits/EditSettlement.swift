import SyncJSON
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
  /// Why what the policy made of the clash cannot stand, if it cannot.
  var policyFlaw: String?

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
  var serverManagedFields: [FieldName]
  var maximumClockSkew: Duration
  var now: Timestamp

  /// The remote has something else than the entry's base.
  ///
  /// It may be what was sent, acknowledged in this way; or what the edit wants anyway; or the base under a new version; or another edit.
  ///
  /// - Parameters:
  ///   - isAnswer: Whether the remote took what was sent, and says that this is what the record is now.
  ///   - flaw: Why what the policy makes of a clash cannot stand, where that is known.
  func meeting(
    _ remoteState: RemoteState, _ entry: OutboxEntry, isAnswer: Bool = false, policyFlaw flaw: String? = nil
  ) -> EditSettlement {
    let entry = entry.taking(serverManagedFields, of: remoteState)
    if remoteState.isSame(as: entry.edit.content) { return settled(by: remoteState, entry) }
    let isTaken = entry.sent.map { remoteState.fulfils($0.content, on: entry.base) } ?? false
    if let sent = entry.sent, isAnswer || isTaken {
      guard sent != entry.edit else { return settled(by: remoteState, entry) }
      if remoteState.isSame(as: sent.content) { return rebased(entry, onto: remoteState) }
      #if MUTANTS
        if Mutant.answerUnmet.isActive, isAnswer { return rebased(entry, onto: remoteState) }
      #endif
      if isAnswer, isTaken, let content = entry.edit.content.adding(remoteState, since: sent.content) {
        let taken = remoteState.payload.flatMap { entity.stamp(in: $0) } ?? sent.stamp
        return rebased(
          entry, onto: remoteState, as: stamped(content, of: entry, after: taken))
      }
      // Another edit went on from what was sent, and so did this one.
      return settle(entry, remoteState, since: sent.content.payload, flaw)
    }
    if remoteState.isSame(as: entry.base) {
      guard entry.base.version == .unversioned, case .copy(let record) = remoteState else {
        return rebased(entry, onto: remoteState)
      }
      // A copy that came with the app did not say when it was written, and a rebuild could not know.
      let stamp = entity.stamp(in: record.payload) ?? EditStamp(physical: record.version.modifiedAt)
      return rebased(entry.written(max(entry.lastWrite, stamp)), onto: remoteState)
    }
    // Nothing may be lost to an edit that only removes what has ended, whoever made it and however late.
    if let base = entry.base.record?.payload {
      let managed = Set(serverManagedFields + [.editStamp] + (entity.stampField.map { [$0] } ?? []))
      let isPurge = { (payload: Payload?) in
        payload.map { base.isPurged(as: $0, at: now, managed: managed) } ?? false
      }
      if isPurge(entry.edit.content.payload) { return settled(by: remoteState, entry) }
      if isPurge(remoteState.payload) { return rebased(entry, onto: remoteState) }
    }
    return settle(entry, remoteState, since: entry.base.record?.payload, flaw)
  }

  // MARK: Endings

  /// Nothing is left to push, unless the word changes what an immutable field has been.
  private func settled(by remoteState: RemoteState, _ entry: OutboxEntry) -> EditSettlement {
    guard !entity.immutable.isEmpty, case .copy(let record) = remoteState else {
      return EditSettlement(row: remoteState.row)
    }
    let known = [entry.base.record?.payload, entry.edit.content.payload, entry.sent?.content.payload]
    let kept = known.reduce(record.payload) { entity.keepingImmutable($0, $1) }
    if kept == record.payload { return EditSettlement(row: remoteState.row) }
    let restoring = Edit.Content.upsert(kept, schemaVersion: record.schemaVersion)
    let stamp = entity.stamp(in: record.payload) ?? EditStamp(physical: record.version.modifiedAt)
    return rebased(entry, onto: remoteState, as: stamped(restoring, of: entry, after: stamp))
  }

  /// The edit stays, on top of the remote's word.
  private func rebased(
    _ entry: OutboxEntry, onto remoteState: RemoteState, as content: Edit.Content? = nil
  ) -> EditSettlement {
    var entry = entry
    entry.base = remoteState.base
    entry.sent = nil
    entry.attempts = 0
    // What the remote put off, a newer copy does not hasten.
    if case .postponed = entry.state {} else { entry.state = .waiting }
    if let content { entry.edit.content = content }
    keepImmutable(in: &entry, remoteState)
    entry.leaves = entry.departures(of: entity)
    return EditSettlement(row: entry.row(of: entity), entry: entry)
  }

  /// Gives an edit the values of immutable fields that the remote's word has.
  private func keepImmutable(in entry: inout OutboxEntry, _ remoteState: RemoteState) {
    guard case .upsert(let payload, let schemaVersion) = entry.edit.content else { return }
    let kept = entity.keepingImmutable(payload, remoteState.payload)
    guard kept != payload else { return }
    entry.edit.content = .upsert(kept, schemaVersion: schemaVersion)
    entry.edit.content = stamped(
      entry.edit.content, of: entry, after: entity.stamp(in: payload) ?? entry.lastWrite)
  }

  /// Lets the policy decide.
  ///
  /// - Parameter base: What both the edit and the word started from.
  private func settle(
    _ entry: OutboxEntry, _ remoteState: RemoteState, since base: Payload?, _ flaw: String?
  ) -> EditSettlement {
    let (stamp, disbelieved) = ClockBelief(now: now, bound: maximumClockSkew, known: entry.lastWrite).stamp(
      of: remoteState, entity)
    // When they were edited is no member that policies merge: the result is stamped anew.
    let merge = MergeConflict(
      id: entry.id, base: base?.withoutEditStamp,
      local: StampedValue(entry.edit.content.payload?.withoutEditStamp, stamp: entry.lastWrite),
      remote: StampedValue(remoteState.payload?.withoutEditStamp, stamp: stamp))
    var conflict = Conflict(
      id: entry.id, settledAt: now, local: entry.edit, remote: remoteState.change, remoteStamp: stamp,
      base: base, winner: .remote, reason: "")
    var settlement: EditSettlement
    var resolution = policy.settle(merge)
    #if MUTANTS
      let flaw = Mutant.policyUnchecked.isActive ? nil : flaw ?? entity.flaw(in: resolution)
    #else
      let flaw = flaw ?? entity.flaw(in: resolution)
    #endif
    if let flaw { resolution = .remote(reason: "what the policy made of both cannot stand: it \(flaw)") }
    switch resolution {
    case .remote(let reason):
      conflict.reason = reason
      settlement = settled(by: remoteState, entry)
    case .local(let reason):
      (conflict.winner, conflict.reason) = (.local, reason)
      settlement = rebased(entry, onto: remoteState, as: stamped(entry.edit.content, of: entry, after: stamp))
    case .merged(let payload, let reason):
      conflict.reason = reason
      let schema = max(entry.edit.content.schemaVersion ?? 1, remoteState.schemaVersion ?? 1)
      let content = stamped(.upsert(payload, schemaVersion: schema), of: entry, after: stamp)
      if remoteState.isSame(as: content) {
        settlement = settled(by: remoteState, entry)
      } else {
        conflict.winner = .merged
        settlement = rebased(entry.written(max(entry.lastWrite, stamp)), onto: remoteState, as: content)
      }
    }
    settlement.conflict = conflict
    settlement.policyFlaw = flaw
    settlement.disbelieved = disbelieved
    return settlement
  }

  /// What an edit writes on top of a copy of a stamp: stamped after that, or, by a rebuild, with the later of the last writes.
  private func stamped(
    _ content: Edit.Content, of entry: OutboxEntry, after stamp: EditStamp
  ) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = content else { return content }
    let own = entry.author == .app ? entry.edit.stamp.following(stamp) : max(entry.lastWrite, stamp)
    return .upsert(entity.stamped(payload, own), schemaVersion: schemaVersion)
  }
}

extension Entity {
  /// Why a policy's verdict cannot be a record of the type; `nil` where it can, or where it makes none.
  fileprivate func flaw(in resolution: MergeResolution) -> String? {
    guard case .merged(let payload, _) = resolution else { return nil }
    do throws(JSONError) {
      _ = try FieldMap(payload)
      guard let version = try schemaVersion(of: payload) else { return "names no schema" }
      if version <= schemaVersion { return nil }
      return "has the schema \(version), and the app understands up to \(schemaVersion)"
    } catch {
      return "is not one JSON object: \(error)"
    }
  }
}

extension OutboxEntry {
  /// The entry with another last write, where a rebuild made it.
  fileprivate func written(_ stamp: EditStamp) -> OutboxEntry {
    guard case .rebuild(var rebuilt) = author else { return self }
    var entry = self
    rebuilt.lastWrite = stamp
    entry.author = .rebuild(rebuilt)
    return entry
  }

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

  /// The content with the members that the remote added to what was sent before; `nil` where it says otherwise of one of them.
  func adding(_ remoteState: RemoteState, since sent: Edit.Content) -> Edit.Content? {
    guard case .upsert(let payload, let schema) = self else { return self }
    guard var fields = try? FieldMap(payload),
      let theirs = remoteState.payload.flatMap({ try? FieldMap($0) }),
      let before = sent.payload.flatMap({ try? FieldMap($0) })
    else { return nil }
    for field in theirs.fields where before[field] == nil {
      if fields[field] != nil, !fields.hasSameValue(as: theirs, for: field) { return nil }
      fields[field] = theirs[field]
    }
    return .upsert(fields.payload, schemaVersion: max(schema, remoteState.schemaVersion ?? schema))
  }
}
