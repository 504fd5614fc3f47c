import SyncJSON
import SyncModels

/// The effect of a remote state on a record with a pending edit.
///
/// It consists of the row, the outbox entry, and the log.
struct EditSettlement: Hashable {
  /// The new content of the row.
  var row: Row
  /// The new outbox entry; `nil` when nothing is left to push.
  var entry: OutboxEntry?
  /// The conflict to log.
  var conflict: Conflict?
  /// How far an untrusted stamp of the remote was ahead of the local clock.
  var distrusted: Duration?
  /// Why the policy's resolution is invalid; `nil` if it is valid.
  var policyFlaw: String?

  /// The content of a row.
  enum Row: Hashable {
    case live(Record)
    case deleted(Tombstone)
  }
}

/// Computes settlements for the records of one type.
///
/// A pure function of the outbox entry, the remote state and the time.
struct EditSettler {
  var entity: Entity
  var policy: any MergePolicy
  var maximumClockSkew: Duration
  var now: Timestamp

  /// Settles an entry whose remote state differs from its base.
  ///
  /// The remote state may be the sent edit, which this acknowledges. It may be the state that the
  /// edit leads to anyway, the base under a new version, or another edit.
  ///
  /// - Parameters:
  ///   - isAnswer: Whether the remote accepted the sent edit, and this is its answer.
  ///   - flaw: Why the policy's resolution is invalid, if that is known.
  func meeting(
    _ remoteState: RemoteState, _ stored: OutboxEntry, isAnswer: Bool = false, policyFlaw flaw: String? = nil
  ) -> EditSettlement {
    let entry = stored.taking(entity.remote.serverManagedFields, of: remoteState)
    // A default gives way to whatever the remote has, without a conflict.
    if entry.isSeed { return EditSettlement(row: remoteState.row) }
    if entry.isRestoration {
      if !isAnswer, restates(remoteState, entry.base) { return kept(entry, stored) }
      // A restored field gives way too, and is restored again on top.
      return settled(by: remoteState, entry)
    }
    if remoteState.isSame(as: entry.edit.content) {
      if let settlement = sharing(remoteState, entry, isAnswer: isAnswer, flaw) { return settlement }
      return settled(by: remoteState, entry)
    }
    let isWhole = entry.sent.map { remoteState.fulfils($0.content, on: entry.base) } ?? false
    if let sent = entry.sent, isAnswer || isWhole || follows(remoteState, entry) {
      if isWhole, !isAnswer, let settlement = sharing(remoteState, entry, isAnswer: false, flaw) {
        return settlement
      }
      guard sent != entry.edit else { return settled(by: remoteState, entry) }
      if remoteState.isSame(as: sent.content) { return rebased(entry, onto: remoteState) }
      if isAnswer, isWhole, let content = entry.edit.content.adding(remoteState, since: sent.content) {
        let taken = remoteState.payload.flatMap { entity.stamp(in: $0) } ?? sent.stamp
        return rebased(
          entry, onto: remoteState, as: stamped(content, of: entry, after: taken))
      }
      // Another replica changed what was sent, and so does this edit.
      return settle(entry, remoteState, since: sent.content.payload, flaw)
    }
    if remoteState.isSame(as: entry.base) {
      guard entry.base.version == .unversioned, case .copy(let record) = remoteState else {
        return rebased(entry, onto: remoteState)
      }
      // A bundled copy has no modification time, so a rebuild could not know the last write.
      let stamp = entity.stamp(in: record.payload) ?? EditStamp(physical: record.version.modifiedAt)
      return rebased(entry.written(max(entry.lastWrite, stamp)), onto: remoteState)
    }
    // An edit that only removes ended values wins over no other edit, whichever side made it and
    // however late.
    if let base = entry.base.record?.payload {
      let managed = Set(
        entity.remote.serverManagedFields + [.editStamp] + (entity.stampField.map { [$0] } ?? []))
      let isPurge = { (payload: Payload?) in
        payload.map { base.isPurged(as: $0, at: now, managed: managed) } ?? false
      }
      if isPurge(entry.edit.content.payload) { return settled(by: remoteState, entry) }
      if isPurge(remoteState.payload) { return rebased(entry, onto: remoteState) }
    }
    if restates(remoteState, entry.base) { return kept(entry, stored) }
    return settle(entry, remoteState, since: entry.base.record?.payload, flaw)
  }

  /// Whether a remote state has the version of an edit's base, and therefore is the base.
  ///
  /// Some remotes write a member anew for each answer, or have fewer members in lists. The edit keeps
  /// its base, so that what it has changed stays the difference of the two.
  private func restates(_ remoteState: RemoteState, _ base: OutboxEntry.Base) -> Bool {
    guard case .copy(let record) = remoteState, case .copy(let known) = base else { return false }
    return ReplicationRule(order: entity.remote.versions).areOfOneState(record, known)
  }

  /// Whether another writer has made a remote state from what was sent.
  ///
  /// It has changed the record, and kept the member with the stamp of the sent edit. A field that the
  /// app has chosen for stamps proves less: other writers may fill it.
  private func follows(_ remoteState: RemoteState, _ entry: OutboxEntry) -> Bool {
    guard entity.stamping == .automatic, entry.author == .app, let sent = entry.sent?.content.payload,
      let theirs = remoteState.payload,
      let stamp = entity.statedStamp(in: theirs), stamp == entity.statedStamp(in: sent)
    else { return false }
    return entry.base.record.flatMap { entity.statedStamp(in: $0.payload) } != stamp
  }

  /// Settles an edit whose result another replica has written too, if the policy makes more of both.
  ///
  /// Two people may each count from 10 to 11. The remote's copy is the entry's own edit if that was
  /// sent and the copy has its stamp. Of a remote that keeps no stamps, an edit that was sent counts
  /// as received.
  private func sharing(
    _ remoteState: RemoteState, _ entry: OutboxEntry, isAnswer: Bool, _ flaw: String?
  ) -> EditSettlement? {
    if entry.author != .app || remoteState.isSame(as: entry.base) { return nil }
    var base = entry.base.record?.payload
    if let sent = entry.sent {
      guard entity.stampMember != nil, let theirs = remoteState.payload else { return nil }
      let stamp = sent.content.payload.flatMap(entity.statedStamp(in:))
      if isAnswer || entity.statedStamp(in: theirs) == stamp {
        // Both sides may have gone on from what was sent, to the same result.
        if sent == entry.edit || remoteState.isSame(as: sent.content) { return nil }
        base = sent.content.payload
      }
    }
    let settlement = settle(entry, remoteState, since: base, flaw)
    guard settlement.conflict?.winner == .merged else { return nil }
    return settlement
  }

  private var trust: StampTrust { StampTrust(now: now, bound: maximumClockSkew) }

  // MARK: Endings

  private func kept(_ entry: OutboxEntry) -> EditSettlement {
    EditSettlement(row: entry.row(of: entity), entry: entry)
  }

  /// Keeps the entry on its base. What may have been sent is sent again unchanged, under the same key.
  private func kept(_ entry: OutboxEntry, _ stored: OutboxEntry) -> EditSettlement {
    kept(stored.sent == nil ? entry : stored)
  }

  /// Drops the entry, unless the remote state changes an immutable field.
  ///
  /// In that case an edit remains that restores the field.
  private func settled(by remoteState: RemoteState, _ entry: OutboxEntry) -> EditSettlement {
    guard !entity.immutable.isEmpty, case .copy(let record) = remoteState else {
      return EditSettlement(row: remoteState.row)
    }
    let known = [entry.base.record?.payload, entry.edit.content.payload, entry.sent?.content.payload]
    let kept = known.reduce(record.payload) { entity.keepingImmutable($0, $1) }
    if kept == record.payload { return EditSettlement(row: remoteState.row) }
    let restoring = Edit.Content.upsert(kept, schemaVersion: record.schemaVersion)
    var entry = entry
    entry.author = .restoration(of: record, by: entity)
    return rebased(entry, onto: remoteState, as: stamped(restoring, of: entry, after: entry.lastWrite))
  }

  /// Keeps the edit, on top of the remote state.
  private func rebased(
    _ entry: OutboxEntry, onto remoteState: RemoteState, as content: Edit.Content? = nil
  ) -> EditSettlement {
    var entry = entry
    // A remote that gives new records keys of its own has perhaps made one from what was sent. The
    // deletion of a record under this key tells nothing of that, so the app decides as before.
    let isInDoubt = entry.isRefused && entry.sent != nil && remoteState.payload == nil
    entry.base = remoteState.base
    if !isInDoubt {
      (entry.sent, entry.attempts) = (nil, 0)
      // A newer copy does not shorten a pause that the remote asked for, nor allow an edit.
      if case .postponed = entry.state {} else if !entry.isHeldByTheApp { entry.state = .waiting }
    }
    if let content { entry.edit.content = content }
    keepImmutable(in: &entry, remoteState)
    entry.leaves = entry.departures(of: entity)
    return kept(entry)
  }

  /// Gives an edit the immutable fields' values of the remote state.
  private func keepImmutable(in entry: inout OutboxEntry, _ remoteState: RemoteState) {
    guard case .upsert(let payload, let schemaVersion) = entry.edit.content else { return }
    let kept = entity.keepingImmutable(payload, remoteState.payload)
    guard kept != payload else { return }
    entry.edit.content = .upsert(kept, schemaVersion: schemaVersion)
    entry.edit.content = stamped(
      entry.edit.content, of: entry, after: entity.stamp(in: payload) ?? entry.lastWrite)
  }

  /// Resolves a merge conflict by the policy.
  ///
  /// - Parameter base: The payload that the edit and the remote state started from.
  private func settle(
    _ entry: OutboxEntry, _ remoteState: RemoteState, since base: Payload?, _ flaw: String?
  ) -> EditSettlement {
    let (known, ahead) = trust.lastWrite(of: entry, entity)
    let (stamp, distrusted) = StampTrust(now: now, bound: maximumClockSkew, known: known).stamp(
      of: remoteState, entity)
    let lastWrite = isToArrive(entry, over: remoteState) ? known.following(stamp) : known
    let decision = PolicyDecision(
      by: policy, entity, entry.id, base: base, local: entry.edit, lastWrite: lastWrite,
      remoteState, remoteStamp: stamp, at: now, flaw: flaw)
    var conflict = decision.conflict
    var settlement: EditSettlement
    switch decision.resolution {
    case .remote:
      settlement = settled(by: remoteState, entry)
    case .local:
      settlement = rebased(entry, onto: remoteState, as: stamped(entry.edit.content, of: entry, after: stamp))
    case .merged(let merged, _):
      let sides = [entry.edit.content.payload, entry.base.record?.payload, remoteState.payload]
      let payload = sides.reduce(merged) { entity.keepingImmutable($0, $1) }
      let schema = max(entry.edit.content.schemaVersion ?? 1, remoteState.schemaVersion ?? 1)
      let content = stamped(.upsert(payload, schemaVersion: schema), of: entry, after: stamp)
      if remoteState.isSame(as: content) {
        conflict.winner = .remote
        settlement = settled(by: remoteState, entry)
      } else {
        settlement = rebased(entry.written(max(entry.lastWrite, stamp)), onto: remoteState, as: content)
      }
    }
    settlement.conflict = conflict
    settlement.policyFlaw = decision.flaw
    settlement.distrusted = distrusted ?? ahead
    return settlement
  }

  /// Whether an edit arrives later than a remote state, and no stamp tells which was made later.
  ///
  /// A deletion carries no stamp at any remote, and is compared by its own arrival.
  private func isToArrive(_ entry: OutboxEntry, over remoteState: RemoteState) -> Bool {
    guard entity.remote.takesEdits, entity.stampMember == nil, entry.author == .app, case .copy = remoteState
    else { return false }
    // What was sent may have arrived before.
    return entry.sent != entry.edit
  }

  /// Returns content stamped for a write on top of a copy.
  ///
  /// The app's edit gets a stamp after the copy's. A rebuild's edit gets the later of the last
  /// writes.
  private func stamped(
    _ content: Edit.Content, of entry: OutboxEntry, after stamp: EditStamp
  ) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = content else { return content }
    let known = trust.lastWrite(of: entry, entity).trusted
    let own = entry.author == .app ? known.following(stamp) : max(known, stamp)
    return .upsert(entity.stamped(payload, own), schemaVersion: schemaVersion)
  }
}

extension OutboxEntry {
  /// Returns the entry with another last write, if a rebuild made it.
  fileprivate func written(_ stamp: EditStamp) -> OutboxEntry {
    guard case .rebuild(var rebuilt) = author else { return self }
    var entry = self
    rebuilt.lastWrite = stamp
    entry.author = .rebuild(rebuilt)
    return entry
  }
}

extension Edit.Content {
  /// Returns the content with the members that the remote added to the sent content.
  ///
  /// `nil` if the remote and the content have different values for such a member.
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

/// The rule for trusting the stamps of other replicas.
///
/// No edit is written later than now, nor later than the remote took it. A stamp that is later than
/// that by more than the bound comes from a wrong clock. The exception is a record whose known edit
/// is as late: both stamps are then of one clock, and can be compared.
struct StampTrust {
  var now: Timestamp
  /// The tolerance; see ``EditOptions/maximumClockSkew``.
  var bound: Duration
  /// The stamp of the edit that others are compared with.
  var known: EditStamp?

  /// Returns the trusted stamp of a remote state.
  ///
  /// `distrusted` is how far ahead the stated stamp was, if it was not trusted.
  func stamp(of remoteState: RemoteState, _ entity: Entity) -> (trusted: EditStamp, distrusted: Duration?) {
    let taken = remoteState.version.modifiedAt
    let modified = EditStamp(physical: taken)
    let stated = remoteState.stamp(by: entity) ?? modified
    let limit = Self.limit(now, bound, known)
    if stated.physical > limit {
      let trusted = modified.physical <= limit ? modified : EditStamp(physical: now)
      return (trusted, stated.physical.duration(since: now))
    }
    if Self.isTooLate(stated, takenAt: taken, bound: bound, known: known) {
      return (modified, stated.physical.duration(since: taken))
    }
    return (stated, nil)
  }

  /// Whether a stamp is later than the remote's time of its copy allows.
  static func isTooLate(
    _ stamp: EditStamp, takenAt taken: Timestamp, bound: Duration, known: EditStamp? = nil
  ) -> Bool {
    // Some remotes do not report when they took a copy.
    taken.microseconds > 0 && stamp.physical > limit(taken, bound, known)
  }

  /// Returns when the content of an edit was written, as far as that is trusted.
  ///
  /// `ahead` is how far ahead its stamp is, if a wrong clock made it that was put right since.
  func lastWrite(of entry: OutboxEntry, _ entity: Entity) -> (trusted: EditStamp, ahead: Duration?) {
    // Hardly any stamp is ahead, and only for such a one the base has to be read.
    guard entry.lastWrite.physical > now + bound,
      entry.lastWrite.physical > max(now, entry.base.lastStamp(by: entity)?.physical ?? now) + bound
    else { return (entry.lastWrite, nil) }
    return (
      EditStamp(physical: now, replica: entry.lastWrite.replica),
      entry.lastWrite.physical.duration(since: now)
    )
  }

  private static func limit(_ instant: Timestamp, _ bound: Duration, _ known: EditStamp?) -> Timestamp {
    max(instant, known?.physical ?? instant) + bound
  }
}

extension OutboxEntry {
  /// Returns the entry with the server-managed fields of a remote state.
  ///
  /// Base, edit and sent edit all take them, apart from a key that the edit changes.
  func taking(_ fields: [FieldName], of remoteState: RemoteState) -> OutboxEntry {
    guard !fields.isEmpty, let theirs = remoteState.payload.flatMap({ try? FieldMap($0) }) else {
      return self
    }
    let key = changedKey(among: fields)
    let fields = fields.filter { $0 != key }
    var entry = self
    if case .copy(var record) = base {
      record.payload = record.payload.taking(fields, of: theirs)
      entry.base = .copy(record)
    }
    entry.edit.content = edit.content.taking(fields, of: theirs)
    if let sent { entry.sent?.content = sent.content.taking(fields, of: theirs) }
    return entry
  }

  /// The member that held the record's key, if the edit gives it another value.
  private func changedKey(among fields: [FieldName]) -> FieldName? {
    guard let base = base.record?.payload, let payload = edit.content.payload, base != payload,
      let before = try? base.values(of: fields), let after = try? payload.values(of: fields)
    else { return nil }
    return zip(fields, zip(before, after)).first { _, values in
      values.0.isKey(id.key) && values.1 != values.0 && values.1 != .null
    }?.0
  }
}

extension FieldValue {
  /// Whether the value is a record's key, as text or as a number.
  fileprivate func isKey(_ key: String) -> Bool {
    switch self {
    case .string(let text): text.isSameUTF8(as: key)
    case .integer(let number): "\(number)" == key
    case .null, .double, .boolean, .composite: false
    }
  }
}

extension Edit.Content {
  fileprivate func taking(_ fields: [FieldName], of other: FieldMap) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self else { return self }
    return .upsert(payload.taking(fields, of: other), schemaVersion: schemaVersion)
  }
}

extension Payload {
  fileprivate func taking(_ fields: [FieldName], of other: FieldMap) -> Payload {
    guard var map = try? FieldMap(self), fields.contains(where: { !map.hasSameValue(as: other, for: $0) })
    else { return self }
    for field in fields { map[field] = other[field] }
    return map.payload
  }
}
