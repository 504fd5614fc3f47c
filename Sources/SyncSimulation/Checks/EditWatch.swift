import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// Looks over what becomes of local edits, at every commit.
final class EditWatch: Sendable {
  private struct State {
    var sightings: Set<RecordID> = []
    var lastRebuilds: [RecordType: Int] = [:]
    /// Whether an update of the app has changed a natural key, or declared a type with one no more, or again.
    var haveKeysChanged = false
    var graves: [RecordID: Version] = [:]
    /// Deletions that had no effect, as the remote had no such record.
    var moot: [RecordID: EditStamp] = [:]
    /// When records were last written that the remote has as a rebuild's edit left them.
    var formerWrites: [RecordID: (version: Version, lastWrite: EditStamp)] = [:]
    /// Records of which the app has given an edit up: what was sent of it may be at the remote, and is nobody's any more.
    var givenUp: Set<RecordID> = []
  }
  private let state = Mutex(State())
  private let remotes: Remotes
  private let ledger: Ledger

  init(remotes: Remotes, ledger: Ledger) {
    self.remotes = remotes
    self.ledger = ledger
  }

  private var remote: InMemoryRemote { remotes.current }

  /// Looks over what a transaction did to edits, and to what they are on top of.
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
        }
        state.givenUp.formUnion(touched.outbox.filter { before.outbox[$0] != nil && after.outbox[$0] == nil })
      }
    } else {
      checkOutbox(before, after, touched.outbox.sorted(), incarnation)
      checkTelling(before, after, touched.outbox.sorted(), incarnation)
      checkDeletions(before, after, ids, incarnation)
    }
    checkGraves(before, after, ids, incarnation)
    guard touched.changesConflicts else { return }
    let known = before.conflicts.first?.number ?? 0
    for conflict in after.conflicts where conflict.number > known {
      checkHonesty(of: conflict, incarnation)
      switch conflict.winner {
      case .local: ledger.saw(.conflictWon)
      case .remote: ledger.saw(.conflictLost)
      case .merged: ledger.saw(.conflictMerged)
      }
    }
  }

  /// What an edit has met is not what it, or one before it here, has led to.
  private func checkHonesty(of conflict: Conflict, _ incarnation: Incarnation) {
    let sights = ledger.sights
    // Versions that start over say nothing of who was there before.
    guard sights[.remoteWiped] == nil, sights[.sourceExchanged] == nil,
      // What a replica that lags has shown as gone was made anew, and then the remote has it all the same.
      conflict.base != nil, sights[.replicaLagged] == nil,
      // So is what a listing has left out.
      sights[.leftOut] == nil,
      !state.withLock({ $0.givenUp.contains(conflict.id) })
    else { return }
    let met: Version? =
      switch conflict.remote {
      case .upsert(let record): record.version
      case .tombstone(let tombstone): tombstone.version
      case .malformed: nil
      }
    let own = remote.pushEffects.last { effect in
      effect.id == conflict.id && effect.version.sequence == met?.sequence
        && effect.version.modifiedAt == met?.modifiedAt
    }
    guard let own else { return }
    ledger.report(
      .honestConflicts,
      "\(incarnation) tells that the edit of \(conflict.id) met another, which is what the one at \(own.stamp) led to"
    )
  }

  /// An edit that goes on from something else than what it was made on, or led to, has met another, and the log tells.
  private func checkTelling(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    let known = before.conflicts.first?.number ?? 0
    for id in ids {
      guard let entry = before.outbox[id], let next = after.outbox[id], let record = next.base.record,
        next.base != entry.base, next.edit.stamp >= entry.edit.stamp
      else { continue }
      let own = [entry.base.record?.payload, entry.sent?.content.payload, entry.edit.content.payload]
      if own.contains(where: { isSame($0, record.payload) }) { continue }
      if after.conflicts.contains(where: { $0.id == id && $0.number > known }) { continue }
      ledger.report(
        .honestConflicts, "\(incarnation) puts the edit of \(id) on top of another, and the log does not tell"
      )
    }
  }

  /// Whether two payloads say the same, apart from what the remote writes itself.
  private func isSame(_ a: Payload?, _ b: Payload) -> Bool {
    guard let a, var ours = try? FieldMap(a), var theirs = try? FieldMap(b) else { return false }
    for field in remote.capabilities.serverManagedFields { (ours[field], theirs[field]) = (nil, nil) }
    return ours.payload.hasSameMembers(as: theirs.payload)
  }

  /// What leaves the outbox is at the remote, or in the log of conflicts, or what the remote has said by itself.
  private func checkOutbox(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    for id in ids {
      guard let entry = before.outbox[id], after.outbox[id]?.edit.stamp != entry.edit.stamp else { continue }
      ledger.saw(.editTraced)
      if entry.author != .app, after.outbox[id] == nil, let record = after.live[id],
        isSame(entry.edit.content.payload, record.payload)
      {
        state.withLock { $0.formerWrites[id] = (record.version, entry.lastWrite) }
      }
      if remote.pushEffects.contains(where: { $0.id == id && $0.stamp == entry.edit.stamp }) { continue }
      if after.conflicts.contains(where: { $0.id == id && $0.local.stamp == entry.edit.stamp }) { continue }
      if state.withLock({ $0.moot[id] == entry.edit.stamp }) { continue }
      let isSaid =
        switch entry.edit.content {
        case .deletion: after.live[id] == nil
        case .upsert(let payload, _):
          isShown(payload, of: id, in: after, incarnation)
        }
      // A rebuild edits records on top of what was pending, and deletes those that lose.
      let isBuiltUpon = after.outbox[id].map { $0.edit.stamp > entry.edit.stamp } ?? false
      let isLoser = before.live[id].map { winner(over: $0, in: after, incarnation) != nil } ?? false
      // The deletion of a loser is taken back where its winner has gone.
      let isTakenBack =
        entry.author != .app && entry.edit.content == .deletion && after.live[id] != nil
      if !isSaid, !isBuiltUpon, !isLoser, !isTakenBack {
        ledger.report(.noLostEdit, "\(incarnation) loses the edit of \(id) at \(entry.edit.stamp)")
      }
    }
  }

  /// Whether a record shows what an edit says, apart from what the remote writes itself, and from references to records that have lost, or
  /// are about to lose, to others.
  private func isShown(
    _ payload: Payload, of id: RecordID, in view: StoreView, _ incarnation: Incarnation
  ) -> Bool {
    guard let entity = incarnation.schema[id.type], let record = view.live[id],
      var said = try? FieldMap(payload), var shown = try? FieldMap(record.payload)
    else { return false }
    for field in remote.capabilities.serverManagedFields { (said[field], shown[field]) = (nil, nil) }
    for reference in entity.references where !said.hasSameValue(as: shown, for: reference.field) {
      guard case .string(let key)? = try? payload.values(of: [reference.field]).first else { return false }
      let loser = view.live[RecordID(type: reference.target, key: key)]
      if let loser, winner(over: loser, in: view, incarnation) == nil { return false }
      said[reference.field] = shown[reference.field]
    }
    return said.payload.hasSameMembers(as: shown.payload)
  }

  /// Remembers that the remote took a deletion of a record that it did not have.
  func foundGone(_ id: RecordID, by stamp: EditStamp) { state.withLock { $0.moot[id] = stamp } }

  /// Remembers that the remote said of a record that it was deleted.
  func buried(_ tombstone: Tombstone, epoch: Int64) {
    var version = tombstone.version
    version.epoch = epoch
    state.withLock { state in
      state.graves[tombstone.id] = max(version, state.graves[tombstone.id] ?? version)
    }
  }

  /// Where a record was deleted, nothing shows but what is newer, or an edit.
  private func checkGraves(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    let graves = state.withLock { $0.graves }
    for id in ids where before.live[id] == nil && after.outbox[id] == nil {
      guard let record = after.live[id], let grave = graves[id], record.version <= grave else { continue }
      ledger.report(
        .noResurrection, "\(incarnation) shows \(id) at \(record.version), deleted at \(grave)")
    }
  }

  /// What the engine deletes by itself has lost to a record that stays.
  private func checkDeletions(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    var losers: [RecordType: Int] = [:]
    for id in ids where after.live[id] == nil {
      guard let loser = before.live[id], incarnation.schema[id.type]?.naturalKey != nil,
        case .deletion? = after.outbox[id]?.edit.content, before.outbox[id]?.edit.content != .deletion
      else { continue }
      guard let winner = winner(over: loser, in: after, incarnation) else {
        ledger.report(.onlyLosers, "\(incarnation) deletes \(id), and no duplicate of it stays")
        continue
      }
      ledger.saw(.duplicatesCollapsed)
      losers[id.type, default: 0] += 1
      let isHeld = before.shelf[.record(id)] != nil
      if !isHeld, let elected = before.live[winner.id],
        lastWrite(of: elected, in: before, incarnation) < lastWrite(of: loser, in: before, incarnation)
      {
        ledger.report(.onlyLosers, "\(incarnation) deletes \(id), written after \(winner.id), which stays")
      }
    }
    for (type, losers) in losers { checkProgress(type, losers, before, after, incarnation) }
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
    // A rebuild's own edits do not make a record the last written.
    if let entry = view.outbox[record.id] { return entry.lastWrite }
    let taken = record.version.modifiedAt
    let former = state.withLock { $0.formerWrites[record.id] }
    if let former, former.version == record.version { return former.lastWrite }
    // Nobody wrote later than the remote took it: a clock that says so by far was wrong.
    let schema = incarnation.schema.synced(
      with: Entity.RemoteTraits(serverManagedFields: remote.capabilities.serverManagedFields))
    // Of a copy that came with the app nobody knows when the remote took it.
    if let stamp = schema[record.id.type]?.stamp(in: record.payload),
      taken.microseconds <= 0 || stamp.physical <= taken + EditOptions().maximumClockSkew
    {
      return stamp
    }
    return EditStamp(physical: taken)
  }

  // MARK: Rebuilds and sightings

  /// From now on a rebuild may be done anew: one by another natural key says nothing.
  func keysChanged() { state.withLock { $0.haveKeysChanged = true } }

  /// The last rebuild of a type that was reported to be done; 0 for none.
  func lastRebuild(of type: RecordType) -> Int { state.withLock { $0.lastRebuilds[type, default: 0] } }

  /// Notes how a rebuild ended.
  ///
  /// - Parameter last: What ``lastRebuild(of:)`` was when it was asked for: what others have done meanwhile says nothing of it.
  func rebuilt(_ report: RebuildReport, of type: RecordType, after last: Int, by incarnation: Incarnation) {
    state.withLock { state in
      guard !report.wasCancelled, report.counts.postponed == 0 else { return }
      state.lastRebuilds[type] = max(state.lastRebuilds[type, default: 0], report.version)
    }
    if report.wasDone { ledger.saw(.rebuildRepeated) }
    // Who begins first after a change, an app of the old version or of the new one, nobody outside can tell.
    if report.version <= last, !report.wasDone, !state.withLock({ $0.haveKeysChanged }) {
      ledger.report(.rebuiltOnce, "\(incarnation) does rebuild \(report.version) again")
    }
  }

  /// Whether an edit of a record was ever seen to be made here.
  func isRecorded(_ id: RecordID) -> Bool { state.withLock { $0.sightings.contains(id) } }
}
