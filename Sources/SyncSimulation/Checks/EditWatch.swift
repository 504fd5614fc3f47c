import InMemoryAdapters
import SyncCore
import SyncJSON
import SyncModels
import SyncPorts
import Synchronization

/// Checks the course of local edits at every commit.
final class EditWatch: Sendable {
  private struct State {
    var sightings: Set<RecordID> = []
    var lastRebuilds: [RecordType: Int] = [:]
    /// Whether an update of the app has changed a natural key.
    ///
    /// That includes removing and restoring a type with one.
    var haveKeysChanged = false
    var graves: [RecordID: Version] = [:]
    /// Deletions without effect, because the remote had no such record.
    var moot: [RecordID: EditStamp] = [:]
    /// The last writes of records that the remote has as a rebuild's edit left them.
    var formerWrites: [RecordID: (copy: Record, lastWrite: EditStamp)] = [:]
    /// Records with an edit that the app has given up. What was sent of it may be at the remote,
    /// without an owner.
    var givenUp: Set<RecordID> = []
    var postponed = PostponedEdits()
    /// Records whose edit was sent last without an answer.
    var unanswered: Set<RecordID> = []
  }
  private let state = Mutex(State())
  private let remotes: Remotes
  private let keys: AssignedKeys
  let ledger: Ledger
  private let volatileField: FieldName?

  /// - Parameter volatileField: The member that differs in each answer of the remote; `nil` for none.
  init(remotes: Remotes, keys: AssignedKeys, ledger: Ledger, volatileField: FieldName?) {
    self.remotes = remotes
    self.keys = keys
    self.ledger = ledger
    self.volatileField = volatileField
  }

  /// The members that the remote writes itself.
  private var fieldsOfTheRemote: [FieldName] {
    remote.capabilities.serverManagedFields + (volatileField.map { [$0] } ?? [])
  }

  private var remote: InMemoryRemote { remotes.current }

  /// Checks a transaction's effect on edits and on their bases.
  func committed(
    _ before: StoreView, _ after: StoreView, _ touched: Touched, _ ids: [RecordID],
    under authority: WriteAuthority, by incarnation: Incarnation
  ) {
    let isByApp = if case .app = authority { true } else { false }
    if isByApp {
      state.withLock { state in
        for id in touched.outbox {
          guard let entry = after.outbox[id], before.outbox[id]?.edit != entry.edit else { continue }
          state.sightings.insert(id)
          state.postponed.edited(before.outbox[id])
        }
        state.givenUp.formUnion(touched.outbox.filter { before.outbox[$0] != nil && after.outbox[$0] == nil })
      }
      for id in touched.outbox.sorted() where before.outbox[id]?.edit.content != .deletion {
        guard let entry = after.outbox[id], entry.author == .app, entry.edit.content == .deletion else {
          continue
        }
        checkReferrers(to: id, [.hidden], before, incarnation)
      }
    } else {
      checkSentDeletions(before, after, touched.outbox.sorted(), incarnation)
      checkOutbox(before, after, touched.outbox.sorted(), incarnation)
      checkTelling(before, after, touched.outbox.sorted(), incarnation)
      checkDeletions(before, after, ids, incarnation)
      noteIsolated(before, after, touched.outbox)
    }
    checkGraves(before, after, ids, incarnation)
    guard touched.changesConflicts else { return }
    let known = before.conflicts.first?.number ?? 0
    for conflict in after.conflicts where conflict.number > known {
      checkAuthor(of: conflict, before)
      // A form may also be overtaken by the app's own edit. Both have stamps of the store's clock.
      if !isByApp {
        checkClock(of: conflict, before, after, incarnation)
        checkHonesty(of: conflict, before, incarnation)
        checkBase(of: conflict, before, incarnation)
      }
      switch conflict.winner {
      case .local: ledger.saw(.conflictWon)
      case .remote: ledger.saw(.conflictLost)
      case .merged: ledger.saw(.conflictMerged)
      }
    }
  }

  /// No conflict is about an edit that no person has made.
  private func checkAuthor(of conflict: Conflict, _ before: StoreView) {
    guard let entry = before.outbox[conflict.id], entry.edit.stamp == conflict.local.stamp else { return }
    if entry.edit.stamp.isOfSeed {
      ledger.report(
        .honestConflicts, "a default of \(conflict.id) competes with what the remote has",
        about: [conflict.id])
    } else if entry.isRestoration {
      ledger.report(
        .honestConflicts, "a restored field of \(conflict.id) competes with an edit", about: [conflict.id])
    }
  }

  /// An edit that meets another one does not keep the time of a clock that was put right since.
  private func checkClock(
    of conflict: Conflict, _ before: StoreView, _ view: StoreView, _ incarnation: Incarnation
  ) {
    let (now, bound) = (conflict.settledAt, EditOptions().maximumClockSkew)
    let traits = Entity.RemoteTraits(
      serverManagedFields: remote.capabilities.serverManagedFields, keepsUnknownMembers: true,
      takesEdits: true)
    // A bundled data set is loaded before it is known how the remote carries stamps.
    guard !incarnation.isLoading, conflict.local.stamp.physical > now + bound,
      let entity = incarnation.schema.synced(with: traits)[conflict.id.type]
    else { return }
    // The edit may have been made on a copy of the same clock.
    let bases = [conflict.base, before.outbox[conflict.id]?.base.record?.payload]
    var others = [conflict.remoteStamp] + bases.map { $0.flatMap(entity.statedStamp(in:)) }
    if case .upsert(let record) = conflict.remote {
      others.append(entity.statedStamp(in: record.payload))
      // A copy that the remote took later than now shows that the clock is behind.
      others.append(EditStamp(physical: record.version.modifiedAt))
    }
    // Stamps of one clock can be compared, however far ahead it is.
    guard !others.contains(where: { ($0?.physical ?? now) > now + bound }) else { return }
    ledger.saw(.wrongClockMet)
    // An edit whose conflict is still open stays as it is.
    guard let entry = view.outbox[conflict.id], entry.author == .app, before.outbox[conflict.id] != entry,
      let stamp = entry.edit.content.payload.flatMap(entity.statedStamp(in:)),
      stamp.physical > now + bound * 2
    else { return }
    ledger.report(
      .arithmetic,
      "\(incarnation) sends the edit of \(conflict.id) as one of \(stamp.physical), which is to come",
      about: [conflict.id])
  }

  /// No conflict is with the copy that the edit was made on, whatever members differ in each answer.
  ///
  /// The winner of duplicates inherits the edit of another record, in whose conflict it is the other side.
  private func checkBase(of conflict: Conflict, _ before: StoreView, _ incarnation: Incarnation) {
    guard remote.capabilities.versions == .perChange,
      let entry = before.outbox[conflict.id], entry.edit.stamp == conflict.local.stamp,
      case .copy(let base) = entry.base,
      case .upsert(let copy) = conflict.remote, copy.version == base.version, copy.entityTag == base.entityTag
    else { return }
    ledger.report(
      .honestConflicts, "\(incarnation) logs a conflict of the edit of \(conflict.id) with its own base",
      about: [conflict.id])
  }

  /// No conflict is with the result of the edit itself or of an earlier one.
  private func checkHonesty(of conflict: Conflict, _ before: StoreView, _ incarnation: Incarnation) {
    let sights = ledger.sights
    // Versions that start over do not identify the writer.
    guard !sights.haveVersionsStartedOver, sights[.sourceExchanged] == nil,
      sights[.accountExchanged] == nil,
      // A remote that writes a field itself changes each edit, so that its answer is another one's.
      !incarnation.isAltered(conflict.id),
      // A record that a lagging replica showed as deleted was created again, and the remote still
      // has it.
      conflict.base != nil, sights[.replicaLagged] == nil,
      // The same holds for a record that a listing left out.
      sights[.leftOut] == nil,
      !state.withLock({ $0.givenUp.contains(conflict.id) }),
      // The edit of a duplicate, which its winner was given, is another one than the winner's own.
      !before.outbox.contains(where: { $0 != conflict.id && $1.edit.stamp == conflict.local.stamp })
    else { return }
    let met: (version: Version, isDeletion: Bool)? =
      switch conflict.remote {
      case .upsert(let record): (record.version, false)
      case .tombstone(let tombstone): (tombstone.version, true)
      case .malformed: nil
      }
    // The deletion of a record that a listing lacked has the version of the record's last copy.
    let own = remote.pushEffects.last { effect in
      effect.id == conflict.id && effect.version.sequence == met?.version.sequence
        && effect.version.modifiedAt == met?.version.modifiedAt && effect.isDeletion == met?.isDeletion
        // Another device's edit is another one's.
        && effect.stamp.replica == conflict.local.stamp.replica
    }
    guard let own else { return }
    ledger.report(
      .honestConflicts,
      "\(incarnation) logs a conflict of the edit of \(conflict.id) with the result of the one at \(own.stamp)",
      about: [conflict.id])
  }

  /// Notes edits that stay out of the next pushes because the remote fails at them.
  ///
  /// What was sent of them may be at the remote, without an owner.
  private func noteIsolated(_ before: StoreView, _ after: StoreView, _ ids: Set<RecordID>) {
    state.withLock { state in
      for id in ids { state.postponed.note(after.outbox[id]) }
      for id in ids where state.unanswered.contains(id) {
        guard let entry = before.outbox[id], let next = after.outbox[id] else { continue }
        if entry.sent != nil, next.sent == nil, next.base == entry.base { state.givenUp.insert(id) }
      }
    }
  }

  /// Whether postponed edits have become due since they were sent last.
  func haveBecomeDue(_ ids: [RecordID], at now: Timestamp) -> Bool {
    state.withLock { $0.postponed.haveBecomeDue(ids, at: now) }
  }

  /// Notes whether the remote answered a push.
  func sent(_ ids: [RecordID], isAnswered: Bool) {
    state.withLock { state in
      if isAnswered { state.unanswered.subtract(ids) } else { state.unanswered.formUnion(ids) }
    }
  }

  /// For each edit on a new base, the log has a conflict.
  ///
  /// A new base is a state other than the edit's base or its own result.
  private func checkTelling(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    let known = before.conflicts.first?.number ?? 0
    for id in ids {
      guard let entry = before.outbox[id], let next = after.outbox[id], let record = next.base.record,
        next.base != entry.base, next.edit.stamp >= entry.edit.stamp, !next.isRestoration,
        !incarnation.isAltered(id)
      else { continue }
      let own = [entry.base.record?.payload, entry.sent?.content.payload, entry.edit.content.payload]
      if own.contains(where: { isSame($0, record.payload) }) { continue }
      if after.conflicts.contains(where: { $0.id == id && $0.number > known }) { continue }
      ledger.report(
        .honestConflicts,
        "\(incarnation) puts the edit of \(id) on another base, and the log has no conflict",
        about: [id])
    }
  }

  /// Whether two payloads are equal, apart from server-managed fields.
  private func isSame(_ a: Payload?, _ b: Payload) -> Bool {
    guard let a, var ours = try? FieldMap(a), var theirs = try? FieldMap(b) else { return false }
    for field in fieldsOfTheRemote { (ours[field], theirs[field]) = (nil, nil) }
    return ours.payload.hasSameMembers(as: theirs.payload)
  }

  /// Whether the member that differs in each answer makes a result of an edit look like another's.
  private func hasVaried(_ sent: Payload?, _ result: Payload) -> Bool {
    guard let volatileField, let sent, let ours = try? FieldMap(sent), let theirs = try? FieldMap(result),
      ours[volatileField] != nil
    else { return false }
    return !ours.hasSameValue(as: theirs, for: volatileField)
  }

  /// Whether a record went with a target whose deletion was held, as its reference declares.
  private func isDeletedByRule(
    _ id: RecordID, _ before: StoreView, _ after: StoreView, _ incarnation: Incarnation
  ) -> Bool {
    guard after.live[id] == nil, let entity = incarnation.schema[id.type],
      let record = before.live[id]?.withFields(of: entity)
    else { return false }
    return entity.references.contains { reference in
      guard reference.onDeletion == .deletesReferrers, let target = entity.target(of: record, by: reference)
      else { return false }
      return before.withheld[.record(target)]?.kind == .held
    }
  }

  private static func stamp(of payload: Payload) -> ArraySlice<UInt8>? {
    (try? FieldMap(payload))?[.editStamp]
  }

  /// An edit leaves the outbox for the remote or the log of conflicts.
  ///
  /// It may also leave if the remote already has its content.
  private func checkOutbox(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    for id in ids {
      guard let entry = before.outbox[id] else { continue }
      let next = after.outbox[id]
      if next?.isRestoration == true { ledger.saw(.fieldRestored) }
      // A restored field takes the place of an edit that is settled.
      guard next?.edit.stamp != entry.edit.stamp || next?.isRestoration != entry.isRestoration else {
        continue
      }
      ledger.saw(.editTraced)
      let present = keys.id(of: id) ?? id
      // What the remote has made of an edit counts as the remote's write, on each device.
      if entry.author != .app, after.outbox[id] == nil, after.outbox[present] == nil,
        !incarnation.isAltered(present), let record = after.live[present],
        present != id || isSame(entry.edit.content.payload, record.payload),
        !hasVaried(entry.edit.content.payload, record.payload)
      {
        state.withLock { $0.formerWrites[present] = (record, entry.lastWrite) }
      }
      if remote.pushEffects.contains(where: { $0.id == id && $0.stamp == entry.edit.stamp }) { continue }
      // A reference that is changed in the same transaction gives the edit a later stamp.
      let isLogged = after.conflicts.contains { conflict in
        conflict.id == id
          && (conflict.local.stamp == entry.edit.stamp
            || conflict.local.stamp > entry.edit.stamp && !before.conflicts.contains(conflict))
      }
      if isLogged { continue }
      if state.withLock({ $0.moot[id] == entry.edit.stamp }) { continue }
      if hasMoved(entry, in: after, incarnation) { continue }
      // The former remote had taken it, and the new one has a copy.
      if remotes.wereExchanged, let record = after.live[id], record.version != entry.base.version,
        let stamp = Self.stamp(of: record.payload), stamp == entry.edit.content.payload.flatMap(Self.stamp)
      {
        continue
      }
      // The engine restores a field again on top of any other copy.
      if entry.isRestoration { continue }
      if entry.edit.stamp.isOfSeed {
        ledger.saw(.defaultYielded)
        continue
      }
      let isSaid =
        switch entry.edit.content {
        case .deletion: after.live[id] == nil
        case .upsert(let payload, _):
          isShown(payload, of: id, in: after, incarnation)
        }
      // A rebuild edits records on top of pending edits, and deletes losers.
      let isBuiltUpon = after.outbox[id].map { $0.edit.stamp > entry.edit.stamp } ?? false
      let isLoser = before.live[id].map { winner(over: $0, in: after, incarnation) != nil } ?? false
      // The deletion of a loser is reverted if its winner is gone.
      let isTakenBack =
        entry.author != .app && entry.edit.content == .deletion && after.live[id] != nil
      if !isSaid, !isBuiltUpon, !isLoser, !isTakenBack, !isDeletedByRule(id, before, after, incarnation) {
        ledger.report(
          .noLostEdit, "\(incarnation) loses the edit of \(id) at \(entry.edit.stamp)", about: [id])
      }
    }
  }

  /// Whether an edit went on under the key that the remote has given its record.
  private func hasMoved(_ entry: OutboxEntry, in view: StoreView, _ incarnation: Incarnation) -> Bool {
    guard let given = keys.id(of: entry.id) else { return false }
    if let next = view.outbox[given], next.edit.stamp >= entry.edit.stamp { return true }
    if view.conflicts.contains(where: { $0.id == given && $0.local.stamp == entry.edit.stamp }) {
      return true
    }
    // A later edit may say what the remote has received before.
    guard var said = entry.edit.content.payload.flatMap({ try? FieldMap($0) }) else { return false }
    for field in said.fields where said[field] == JSONString.quoted(entry.id.key)[...] {
      said[field] = JSONString.quoted(given.key)[...]
    }
    return isShown(said.payload, of: given, in: view, incarnation)
  }

  /// Whether a record has an edit's content.
  ///
  /// Server-managed fields do not count, nor references to records that have lost, or are about to
  /// lose, to others.
  private func isShown(
    _ payload: Payload, of id: RecordID, in view: StoreView, _ incarnation: Incarnation
  ) -> Bool {
    guard let entity = incarnation.schema[id.type], let record = view.live[id],
      var said = try? FieldMap(payload), var shown = try? FieldMap(record.payload)
    else { return false }
    // The stamp of an edit that was made under a wrong clock is put right.
    for field in fieldsOfTheRemote + [entity.stampField ?? .editStamp] {
      (said[field], shown[field]) = (nil, nil)
    }
    for reference in entity.references where !said.hasSameValue(as: shown, for: reference.field) {
      guard case .string(let key)? = try? payload.values(of: [reference.field]).first else { return false }
      let loser = view.live[RecordID(type: reference.target, key: key)]
      if let loser, winner(over: loser, in: view, incarnation) == nil { return false }
      said[reference.field] = shown[reference.field]
    }
    return said.payload.hasSameMembers(as: shown.payload)
  }

  /// Stores that the remote accepted the deletion of a missing record.
  func foundGone(_ id: RecordID, by stamp: EditStamp) { state.withLock { $0.moot[id] = stamp } }

  /// Stores that the remote reported a record as deleted.
  func buried(_ tombstone: Tombstone, epoch: Int64) {
    var version = tombstone.version
    version.epoch = epoch
    state.withLock { state in
      state.graves[tombstone.id] = max(version, state.graves[tombstone.id] ?? version)
    }
  }

  /// Only newer copies or edits appear in place of a deleted record.
  private func checkGraves(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    let graves = state.withLock { $0.graves }
    for id in ids where before.live[id] == nil && after.outbox[id] == nil {
      guard let record = after.live[id], let grave = graves[id], record.version <= grave else { continue }
      let waiting = after.withheld[.record(id)]
      // Its deletion is not shown yet: others refer to the record, or the rest of a listing that is
      // published as a whole is still to come.
      if waiting?.kind == .held || waiting?.kind == .staged { continue }
      // The app has given up its own deletion of this copy.
      if let former = before.outbox[id], former.base.record?.payload == record.payload { continue }
      // It was created again, and the new copy waits for what it refers to.
      if case .upsert(let copy)? = waiting?.change, copy.version > grave { continue }
      ledger.report(
        .noResurrection, "\(incarnation) shows \(id) at \(record.version), deleted at \(grave)", about: [id])
    }
  }

  /// A record that the engine itself deletes has lost to a record that stays.
  private func checkDeletions(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    var losers: [RecordType: Int] = [:]
    for id in ids where after.live[id] == nil {
      guard let loser = before.live[id], incarnation.schema[id.type]?.naturalKey != nil,
        let entry = after.outbox[id], entry.author != .app, entry.edit.content == .deletion,
        before.outbox[id]?.edit.content != .deletion
      else { continue }
      guard let winner = winner(over: loser, in: after, incarnation) else {
        ledger.report(.onlyLosers, "\(incarnation) deletes \(id), and no duplicate of it stays", about: [id])
        continue
      }
      ledger.saw(.duplicatesCollapsed)
      losers[id.type, default: 0] += 1
      if after.outbox[id].flatMap(after.winner(over:)).flatMap({ after.live[$0] }) == nil {
        ledger.report(
          .onlyLosers, "\(incarnation) deletes \(id), and does not remember a winner of it", about: [id])
      }
      let isHeld = before.withheld[.record(id)] != nil
      if !isHeld, let elected = before.live[winner.id],
        lastWrite(of: elected, in: before, incarnation) < lastWrite(of: loser, in: before, incarnation)
      {
        ledger.report(
          .onlyLosers, "\(incarnation) deletes \(id), written after \(winner.id), which stays",
          about: [id, winner.id])
      }
    }
    for (type, losers) in losers { checkProgress(type, losers, before, after, incarnation) }
  }

  /// A rebuild's deletion is sent only while a winner stands.
  ///
  /// No withheld copy may refer to the loser either.
  private func checkSentDeletions(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    for id in ids {
      guard let entry = before.outbox[id], entry.sent == nil, entry.author != .app,
        case .deletion? = after.outbox[id]?.sent?.content
      else { continue }
      checkReferrers(to: id, [.parked, .hidden, .incompatible], before, incarnation)
      checkWinner(of: entry, before, incarnation)
    }
  }

  private func checkWinner(of entry: OutboxEntry, _ view: StoreView, _ incarnation: Incarnation) {
    guard let winner = view.winner(over: entry) else { return }
    if view.live[winner] == nil || view.outbox[winner] != nil || view.withheld[.record(winner)] != nil {
      ledger.report(
        .onlyLosers,
        "\(incarnation) sends the deletion of \(entry.id), and its winner \(winner) does not stand",
        about: [entry.id, winner])
    }
  }

  private func checkProgress(
    _ type: RecordType, _ losers: Int, _ before: StoreView, _ after: StoreView, _ incarnation: Incarnation
  ) {
    let (old, new) = (before.rebuilds[type], after.rebuilds[type])
    if old?.isDone == true { return }
    let counted = (new?.counts.losers ?? 0) - (old?.version == new?.version ? old?.counts.losers ?? 0 : 0)
    if counted < losers {
      ledger.report(
        .rebuiltOnce,
        "\(incarnation) deletes \(Counted(losers, "loser")), and its progress counts \(counted) of them")
    }
  }

  private func winner(over loser: Record, in view: StoreView, _ incarnation: Incarnation) -> Record? {
    guard let entity = incarnation.schema[loser.id.type], let key = entity.naturalKey(of: loser) else {
      return nil
    }
    return view.live.values.filter {
      $0.id.type == entity.type && $0.id != loser.id && entity.naturalKey(of: $0) == key
    }.min { $0.id < $1.id }
  }

  private func lastWrite(
    of record: Record, in view: StoreView, _ incarnation: Incarnation
  ) -> EditStamp {
    // A rebuild's own edits do not change which record was written last.
    if let entry = view.outbox[record.id] { return entry.lastWrite }
    let taken = record.version.modifiedAt
    let former = state.withLock { $0.formerWrites[record.id] }
    // A listing of a remote that was restored repeats it in another epoch.
    if let former, former.copy.version == record.version || former.copy.payload == record.payload {
      return former.lastWrite
    }
    // No write is later than its arrival at the remote. A much later timestamp comes from a wrong
    // clock.
    let schema = incarnation.schema.synced(
      with: Entity.RemoteTraits(serverManagedFields: remote.capabilities.serverManagedFields))
    // The arrival time of a bundled copy is unknown.
    if let stamp = schema[record.id.type]?.stamp(in: record.payload),
      taken.microseconds <= 0 || stamp.physical <= taken + EditOptions().maximumClockSkew
    {
      return stamp
    }
    return EditStamp(physical: taken)
  }

  // MARK: Rebuilds and sightings

  /// Notes that rebuilds may be repeated.
  ///
  /// A rebuild by another natural key, or of another account's records, proves nothing.
  func keysChanged() { state.withLock { $0.haveKeysChanged = true } }

  /// The last rebuild of a type that was reported as done; 0 for none.
  func lastRebuild(of type: RecordType) -> Int { state.withLock { $0.lastRebuilds[type, default: 0] } }

  /// Notes the result of a rebuild.
  ///
  /// - Parameter last: The value of ``lastRebuild(of:)`` at the start of the rebuild. Rebuilds that
  ///   end meanwhile do not count.
  func rebuilt(_ report: RebuildReport, of type: RecordType, after last: Int, by incarnation: Incarnation) {
    state.withLock { state in
      guard !report.wasCancelled, report.counts.postponed == 0 else { return }
      state.lastRebuilds[type] = max(state.lastRebuilds[type, default: 0], report.version)
    }
    if report.wasDone { ledger.saw(.rebuildRepeated) }
    // The order in which an old and a new app version begin after a change is unknown outside.
    if report.version <= last, !report.wasDone, !state.withLock({ $0.haveKeysChanged }) {
      ledger.report(.rebuiltOnce, "\(incarnation) does rebuild \(report.version) again")
    }
  }

  /// Whether an edit of a record was ever made here by a sighting.
  func isRecorded(_ id: RecordID) -> Bool { state.withLock { $0.sightings.contains(id) } }
}

extension EditWatch {
  /// No withheld copy refers to a record that is deleted.
  func checkReferrers(
    to id: RecordID, _ kinds: Set<WithheldChange.Kind>, _ view: StoreView, _ incarnation: Incarnation
  ) {
    for entry in view.withheld.values where kinds.contains(entry.kind) {
      guard case .upsert(let copy) = entry.change, copy.id != id,
        let entity = incarnation.schema[copy.id.type], let fields = try? entity.fields(of: copy.payload)
      else { continue }
      let refers = zip(entity.fields, fields).contains { field, value in
        value == .string(id.key)
          && entity.references.contains {
            // The app may delete what an unordered reference names.
            $0.field == field && $0.target == id.type && (kinds.count > 1 || $0.isOrdered)
          }
      }
      if refers {
        ledger.report(
          .references, "\(incarnation) deletes \(id), to which \(copy.id) refers, which is \(entry.kind)",
          about: [id, copy.id])
      }
    }
  }
}

/// Postponed edits that were not sent since, with the times at which they are due.
///
/// A sync may last until one is due. It may then send the edit as often as at first.
private struct PostponedEdits {
  private var times: [RecordID: Timestamp] = [:]
  /// Edits that the app made due by another one.
  private var edited: Set<RecordID> = []

  /// Notes an edit's new state.
  mutating func note(_ entry: OutboxEntry?) {
    guard let entry, case .postponed(let until) = entry.state else { return }
    times[entry.id] = until
  }

  /// Notes that the app has replaced an edit.
  mutating func edited(_ entry: OutboxEntry?) {
    guard let entry, case .postponed = entry.state else { return }
    edited.insert(entry.id)
  }

  /// Whether one of some edits has become due, before they are sent.
  mutating func haveBecomeDue(_ ids: [RecordID], at now: Timestamp) -> Bool {
    let due = ids.filter { id in edited.contains(id) || times[id].map { $0 <= now } ?? false }
    for id in due { times[id] = nil }
    edited.subtract(due)
    return !due.isEmpty
  }
}
