import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// Looks over what becomes of local edits, at every commit.
final class EditWatch: Sendable {
  private struct State {
    var sightings: Set<RecordID> = []
    var lastRebuild = 0
    var graves: [RecordID: Version] = [:]
  }
  private let state = Mutex(State())
  private let remote: InMemoryRemote
  private let ledger: Ledger

  init(remote: InMemoryRemote, ledger: Ledger) {
    self.remote = remote
    self.ledger = ledger
  }

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
      }
    } else {
      checkOutbox(before, after, touched.outbox.sorted(), incarnation)
      checkDeletions(before, after, ids, incarnation)
    }
    checkGraves(before, after, ids, incarnation)
    guard touched.changesConflicts else { return }
    let known = before.conflicts.first?.number ?? 0
    for conflict in after.conflicts where conflict.number > known {
      switch conflict.winner {
      case .local: ledger.saw(.conflictWon)
      case .remote: ledger.saw(.conflictLost)
      case .merged: ledger.saw(.conflictMerged)
      }
    }
  }

  /// What leaves the outbox is at the remote, or in the log of conflicts, or what the remote has said by itself.
  private func checkOutbox(
    _ before: StoreView, _ after: StoreView, _ ids: [RecordID], _ incarnation: Incarnation
  ) {
    for id in ids {
      guard let entry = before.outbox[id], after.outbox[id]?.edit.stamp != entry.edit.stamp else { continue }
      ledger.saw(.editTraced)
      if remote.pushEffects.contains(where: { $0.id == id && $0.stamp == entry.edit.stamp }) { continue }
      if after.conflicts.contains(where: { $0.id == id && $0.local.stamp == entry.edit.stamp }) { continue }
      let isSaid =
        switch entry.edit.content {
        case .deletion: after.live[id] == nil
        case .upsert(let payload, _):
          isShown(payload, of: id, in: after, incarnation)
        }
      // A rebuild edits records on top of what was pending, and deletes those that lose.
      let isBuiltUpon = after.outbox[id].map { $0.edit.stamp > entry.edit.stamp } ?? false
      let isLoser = before.live[id].map { winner(over: $0, in: after, incarnation) != nil } ?? false
      if !isSaid, !isBuiltUpon, !isLoser {
        ledger.report(.noLostEdit, "\(incarnation) loses the edit of \(id) at \(entry.edit.stamp)")
      }
    }
  }

  /// Whether a record shows what an edit says, apart from what the remote writes itself, and from references to records that have lost, or
  /// are about to lose, to others.
  private func isShown(
    _ payload: Payload, of id: RecordID, in view: StoreView, _ incarnation: Incarnation
  ) -> Bool {
    guard let entity = incarnation.graph[id.type], let record = view.live[id],
      var said = try? FieldMap(payload), var shown = try? FieldMap(record.payload)
    else { return false }
    for field in remote.capabilities.ownFields { (said[field], shown[field]) = (nil, nil) }
    for reference in entity.references where !said.hasSameValue(as: shown, for: reference.field) {
      guard case .string(let key)? = try? payload.values(of: [reference.field]).first else { return false }
      let loser = view.live[RecordID(type: reference.target, key: key)]
      if let loser, winner(over: loser, in: view, incarnation) == nil { return false }
      said[reference.field] = shown[reference.field]
    }
    return said.payload.hasSameMembers(as: shown.payload)
  }

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
    var losers = 0
    for id in ids where after.live[id] == nil {
      guard let loser = before.live[id], incarnation.graph[id.type]?.naturalKey != nil,
        case .deletion? = after.outbox[id]?.edit.content, before.outbox[id]?.edit.content != .deletion
      else { continue }
      guard let winner = winner(over: loser, in: after, incarnation) else {
        ledger.report(.onlyLosers, "\(incarnation) deletes \(id), and no duplicate of it stays")
        continue
      }
      ledger.saw(.duplicatesCollapsed)
      losers += 1
      let isHeld = before.shelf[.record(id)] != nil
      if !isHeld, let elected = before.live[winner.id],
        lastWrite(of: elected, in: before, incarnation) < lastWrite(of: loser, in: before, incarnation)
      {
        ledger.report(.onlyLosers, "\(incarnation) deletes \(id), written after \(winner.id), which stays")
      }
    }
    guard losers > 0, before.rebuild?.isDone != true else { return }
    let isSame = before.rebuild?.version == after.rebuild?.version
    let counted = (after.rebuild?.counts.losers ?? 0) - (isSame ? before.rebuild?.counts.losers ?? 0 : 0)
    if counted < losers {
      ledger.report(
        .rebuiltOnce,
        "\(incarnation) deletes \(Counted(losers, "loser")), and its progress counts \(counted) of them")
    }
  }

  private func winner(over loser: Record, in view: StoreView, _ incarnation: Incarnation) -> Record? {
    guard let entity = incarnation.graph[loser.id.type], let key = entity.naturalKey(of: loser) else {
      return nil
    }
    return view.live.values.filter {
      $0.id.type == entity.type && $0.id != loser.id && entity.naturalKey(of: $0) == key
    }.min { $0.id < $1.id }
  }

  private func lastWrite(
    of record: Record, in view: StoreView, _ incarnation: Incarnation
  ) -> EditStamp {
    if let entry = view.outbox[record.id] { return entry.edit.stamp }
    let taken = record.version.modifiedAt
    // Nobody wrote later than the remote took it: a clock that says so by far was wrong.
    if let field = incarnation.graph[record.id.type]?.stampField,
      case .string(let text)? = try? record.payload.values(of: [field]).first, let stamp = EditStamp(text),
      stamp.physical <= taken + EditOptions().clockBound
    {
      return stamp
    }
    return EditStamp(physical: taken)
  }

  // MARK: Rebuilds and sightings

  /// The last rebuild that was reported to be done; 0 for none.
  var lastRebuild: Int { state.withLock { $0.lastRebuild } }

  /// Notes how a rebuild ended.
  ///
  /// - Parameter last: What ``lastRebuild`` was when it was asked for: what others have done meanwhile says nothing of it.
  func rebuilt(_ report: RebuildReport, after last: Int, by incarnation: Incarnation) {
    state.withLock { state in
      guard !report.wasCancelled, report.counts.postponed == 0 else { return }
      state.lastRebuild = max(state.lastRebuild, report.version)
    }
    if report.wasDone { ledger.saw(.rebuildRepeated) }
    if report.version <= last, !report.wasDone {
      ledger.report(.rebuiltOnce, "\(incarnation) does rebuild \(report.version) again")
    }
  }

  /// Whether an edit of a record was ever seen to be made here.
  func isRecorded(_ id: RecordID) -> Bool { state.withLock { $0.sightings.contains(id) } }
}
