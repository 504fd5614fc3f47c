import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts

/// A record that the app sees all the time.
private struct SeenLeague: SyncedRecord, Encodable {
  static let recordType: RecordType = "leagues"
  var id: String
  var name: Int
}

/// A record as a form shows it.
private struct LeagueForm: SyncedRecord, Encodable, Equatable {
  static let recordType: RecordType = "leagues"
  var id: String
  var name: Int
  var parent: String?
}

extension Incarnation {
  /// Makes some edits, perhaps during a sync.
  func editInTrouble() async {
    let choices = world.choices
    for _ in 0..<choices.below(4) {
      try? await clock.pause(for: choices.duration(.zero...(.seconds(15))))
      guard !isDead, let engine else { return }
      if world.shape.hazards.contains(.sightings), choices.once(in: 3) {
        await see(engine)
      } else if world.sums != nil, choices.once(in: 3) {
        await add(engine)
      } else if world.shape.hazards.contains(.localEdits) {
        await edit(engine)
      }
    }
  }

  private func edit(_ engine: SyncEngine) async {
    let (choices, id) = (world.choices, world.edits.anyRecord())
    guard schema[id.type] != nil else { return }
    do throws(SyncError) {
      switch choices.below(12) {
      case 9, 10:
        try await engine.edits.delete(id)
        trace(as: .edit, "deletes \(id)")
      case 4...8 where id.type == LeagueForm.recordType && world.records == nil:
        try await writeForm(id, engine)
      case 11:
        try await engine.edits.discard(id)
        trace(as: .edit, "gives up its edit of \(id)")
      default:
        try await write(id, engine)
        trace(as: .edit, "edits \(id)")
      }
      world.ledger.saw(.edited)
    } catch {
      note(editing: id, error)
    }
  }

  private func write(_ id: RecordID, _ engine: SyncEngine) async throws(SyncError) {
    let (choices, keys) = (world.choices, world.shape.keys)
    if let records = world.records {
      return try await engine.edits.perform { (batch) throws(SyncError) in
        try records.edit(id, in: &batch, WorldRandom(choices, keys: keys, of: records))
      }
    }
    let areCirclesPossible = world.shape.hazards.contains(.circles)
    let ownNumber = Int(id.key.dropFirst()) ?? 1
    let references: [(field: FieldName, target: RecordType)] =
      switch id.type.rawValue {
      case "leagues": [("parent", "leagues")]
      case "teams": [("league", "leagues")]
      default: [("home", "teams"), ("away", "teams")]
      }
    try await engine.edits.perform { (batch) throws(SyncError) in
      let isNew = try batch.record(id) == nil
      var values: [(FieldName, String)] = [("name", "\(choices.number(in: 11...13))")]
      if isNew { values.append(("id", "\"\(id.key)\"")) }
      for (field, target) in references where isNew || choices.once(in: 3) {
        var number = choices.number(in: 1...keys)
        // A league refers to an earlier one, unless circles are possible.
        if field == "parent", !areCirclesPossible { number = min(number, max(1, ownNumber - 1)) }
        let key = "\(target.rawValue.prefix(1))\(number)"
        let isThere = try batch.record(RecordID(type: target, key: key)) != nil
        values.append((field, isThere ? "\"\(key)\"" : "null"))
      }
      if id.type == "teams", choices.once(in: 4) { values.append(("code", "\(choices.number(in: 1...5))")) }
      if id.type == "leagues", let field = world.shape.immutableField, isNew || choices.once(in: 4) {
        values.append((field, "\(choices.number(in: 1...4))"))
      }
      if let badge = try badge(for: id, &batch) { values.append((Badge.field, badge)) }
      try batch.set(id) { (fields) throws(SyncError) in
        for (field, value) in values { fields[field] = Array(value.utf8)[...] }
      }
    }
  }

  /// Sometimes a badge for a team without one, perhaps that of a team which is deleted with this edit.
  private func badge(for id: RecordID, _ batch: inout EditBatch) throws(SyncError) -> String? {
    let choices = world.choices
    guard world.shape.hazards.contains(.uniqueValues), id.type == "teams", choices.once(in: 2),
      try batch.record(id).flatMap({ Badge(of: id, in: $0.payload) }) == nil
    else { return nil }
    let badge = "\(choices.number(in: 1...3))"
    for holder in try batch.records(Query("teams")) where holder.id != id {
      guard let held = Badge(of: holder.id, in: holder.payload), held.json == badge else { continue }
      guard choices.once(in: 2) else { return nil }
      try batch.delete(holder.id)
    }
    return badge
  }

  /// Adds one to the number that all writers add to.
  private func add(_ engine: SyncEngine) async {
    do throws(SyncError) {
      try await engine.edits.perform { (batch) throws(SyncError) in
        guard let record = try batch.record(Sums.id), let sum = Sums.adding(to: record.payload),
          let fields = try? FieldMap(sum)
        else { return }
        try batch.set(Sums.id) { (stored) throws(SyncError) in stored = fields }
      }
      trace(as: .edit, "adds to \(Sums.id)")
    } catch {
      note(editing: Sums.id, error)
    }
  }

  /// Opens a form, and writes it after a time in which the record may have changed.
  private func writeForm(_ id: RecordID, _ engine: SyncEngine) async throws(SyncError) {
    var found: Stored<LeagueForm>?
    do throws(SyncError) {
      found = try await engine.records.find(LeagueForm.self, key: id.key)
    } catch {
      // Another client may have written a name that is no number.
      if error.code != .undecodable { throw error }
    }
    guard var form = found else { return }
    try? await clock.pause(for: world.choices.duration(.zero...(.seconds(60))))
    if isDead { return }
    let (read, demandsNoChange) = (form.value, world.choices.once(in: 3))
    form.name = world.nextNumber()
    let filled = form
    let (isOutdated, isNameAlone) = try await engine.edits.perform {
      (batch) throws(SyncError) -> (Bool, Bool) in
      let before = try batch.record(id)
      do throws(SyncError) {
        try batch.upsert(filled, ifUnchanged: demandsNoChange)
      } catch {
        if error.code == .changedMeanwhile { self.world.ledger.saw(.formRefused) }
        throw error
      }
      if demandsNoChange, (try? before?.payload.decoded(as: LeagueForm.self, key: id.key)) != read {
        self.world.ledger.report(
          .noLostEdit, "\(self) writes a form of \(id), which has changed although nothing was to",
          about: [id])
      }
      guard let before, let after = try batch.record(id) else {
        return (before?.version != filled.version, true)
      }
      return (before.version != filled.version, after.payload.differs(from: before.payload, onlyIn: "name"))
    }
    if isOutdated { world.ledger.saw(.formOutdated) }
    if !isNameAlone {
      world.ledger.report(
        .noLostEdit, "\(self) writes a form of \(id) over what has changed since", about: [id])
    }
    trace(as: .edit, "writes a form of \(id)")
  }

  /// Records a sighting, or finds that one was recorded a short time ago.
  private func see(_ engine: SyncEngine) async {
    let key = "l\(world.choices.number(in: 1...world.shape.keys))"
    let id = RecordID(type: "leagues", key: key)
    do throws(SyncError) {
      // All sightings differ, so each recorded one is an edit.
      let league = SeenLeague(id: key, name: world.nextNumber())
      switch try await engine.throttle(every: .seconds(60)).record(league, key: key) {
      case .recorded:
        trace(as: .edit, "records that it saw \(id)")
        world.ledger.saw(.sightingRecorded)
      case .cached:
        world.ledger.saw(.sightingCached)
        if !world.watch.edits.isRecorded(id) {
          world.ledger.report(
            .throttle, "\(self) postpones a sighting of \(id) that was never recorded",
            about: [id])
        }
      }
    } catch {
      note(editing: id, error)
    }
  }

  func note(editing id: RecordID, _ error: SyncError) {
    trace("could not edit \(id): \(error.code)")
    world.trace.mix(error.code.description)
    // The engine refuses invalid edits. The store throws all other errors.
    var known: Set<SyncError.Code> = [.invalidEdit, .changedMeanwhile, .storeFailure, .storeBusy, .storeFull]
    // Two versions of the app use one store object here, each with its own places for fields.
    if world.shape.hazards.contains(.sharedVersions) { known.insert(.declarationsReplaced) }
    if !known.contains(error.code) {
      world.ledger.report(.honestErrors, "\(self) could not edit \(id): \(error)", about: [id])
    }
  }

  /// Retries the edits that the remote refused.
  func letRefusedEditsGo() async {
    guard let engine else { return }
    do throws(SyncError) {
      for entity in schema.entities {
        // A postponed edit is sent without a retry.
        let refused = try await engine.edits.pending(entity.type).filter { entry in
          // A value that another record had is free after a deletion, which the engine hears of itself.
          if case .refused(let reason, _) = entry.state { reason != UniqueValuesSink.reason } else { false }
        }
        try await engine.edits.retry(entity.type, refused.map(\.id.key))
      }
    } catch {
      world.ledger.report(.liveness, "with all faults gone, \(self) cannot retry its edits: \(error)")
    }
  }

  // MARK: Duplicates

  /// Rebuilds now and then, perhaps with an interruption, and perhaps continues later.
  func rebuildInTrouble() async {
    guard world.shape.hazards.contains(.duplicates), world.hasSink, world.choices.once(in: 2),
      !rebuiltTypes.isEmpty
    else { return }
    let type = rebuiltTypes[world.choices.below(rebuiltTypes.count)]
    while !isDead, let engine {
      let token =
        world.choices.once(in: 2) ? LateStop(afterAnswers: world.choices.number(in: 2...6)) : nil
      begin(SyncRequest())
      do throws(SyncError) {
        noteResumption(of: type)
        let last = world.watch.edits.lastRebuild(of: type)
        let report = try await engine.rebuildDuplicates(
          of: type, version: 1, options: RebuildOptions(recordsAtOnce: 2), token: token)
        note(report, of: type, after: last)
        guard report.wasCancelled, world.choices.once(in: 2) else { return }
      } catch {
        trace(as: .sync, "could not rebuild: \(error.code)")
        world.trace.mix(error.code.description)
        var own: Set<SyncError.Code> = [.pullIncomplete, .syncAlreadyInProgress]
        if world.shape.hazards.contains(.sharedVersions) { own.insert(.declarationsReplaced) }
        if !isDead, !own.contains(error.code), !causes.contains(error.code) {
          world.ledger.report(.honestErrors, "\(self) could not rebuild: \(error)")
        }
        return
      }
    }
  }

  /// Rebuilds the remaining duplicates.
  func rebuildInCalm() async {
    guard world.shape.hazards.contains(.duplicates), world.hasSink, let engine else { return }
    for type in rebuiltTypes {
      do throws(SyncError) {
        let last = world.watch.edits.lastRebuild(of: type)
        note(try await engine.rebuildDuplicates(of: type, version: 2), of: type, after: last)
      } catch {
        if world.isToBeExpected(rebuilding: error) { continue }
        world.ledger.report(.liveness, "with all faults gone, \(self) cannot rebuild: \(error)")
      }
    }
  }

  /// The types that may have duplicates.
  private var rebuiltTypes: [RecordType] {
    schema.entities.filter { $0.naturalKey != nil }.map(\.type)
  }

  private func noteResumption(of type: RecordType) {
    if let rebuild = world.watch.lastView.rebuilds[type], !rebuild.isDone {
      world.ledger.saw(.rebuildResumed)
    }
  }

  private func note(_ report: RebuildReport, of type: RecordType, after last: Int) {
    trace(
      as: .sync, "rebuilds: \(Counted(report.counts.losers, "loser"))\(report.wasDone ? ", long ago" : "")")
    world.trace.mix(UInt64(report.counts.losers))
    world.watch.edits.rebuilt(report, of: type, after: last, by: self)
  }
}

extension Payload {
  /// Whether two payloads differ at most in one member, besides the stamps of edits.
  fileprivate func differs(from other: Payload, onlyIn field: FieldName) -> Bool {
    guard var ours = try? FieldMap(self), var theirs = try? FieldMap(other) else { return false }
    for name in [field, .editStamp, "stamp"] { (ours[name], theirs[name]) = (nil, nil) }
    return ours.payload.hasSameMembers(as: theirs.payload)
  }
}
