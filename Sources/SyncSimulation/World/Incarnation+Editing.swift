import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// A record that the app sees all the time.
private struct SeenLeague: SyncedRecord, Encodable {
  static let recordType: RecordType = "leagues"
  var id: String
  var name: Int
}

/// A record as a form shows it.
struct LeagueForm: SyncedRecord, Encodable, Equatable {
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
        if world.shape.hazards.contains(.jumpingClocks), choices.once(in: 4) {
          await editUnderAWrongClock(engine)
        } else {
          await edit(engine)
        }
      }
    }
  }

  private func edit(_ engine: SyncEngine) async {
    let (choices, id) = (world.choices, world.anyRecordOfTheApp())
    guard schema[id.type] != nil else { return }
    if world.makesPairs, choices.once(in: 6) { return await editPair(id, engine) }
    world.pairs.edited(id)
    do throws(SyncError) {
      switch choices.below(12) {
      case 9, 10:
        try await engine.edits.delete(id)
        trace(as: .edit, "deletes \(id)")
      case 4...8 where id.type == LeagueForm.recordType && world.records == nil:
        try await writeForm(id, engine)
      case 3 where world.records == nil:
        await readAtOnce(engine)
      case 11:
        try await engine.edits.discard(id)
        trace(as: .edit, "gives up its edit of \(id)")
      default:
        try await world.write(id, by: engine)
        trace(as: .edit, "edits \(id)")
      }
      world.ledger.saw(.edited)
    } catch {
      note(editing: id, error)
    }
  }

  /// Edits two records as an atomic group.
  private func editPair(_ id: RecordID, _ engine: SyncEngine) async {
    let (other, number) = (world.edits.anyRecord(), world.nextNumber())
    guard other != id, schema[other.type] != nil else { return }
    do throws(SyncError) {
      let areThere = try await engine.edits.perform(atomically: true) { (batch) throws(SyncError) in
        for id in [id, other] where try batch.record(id) == nil { return false }
        for id in [id, other] {
          try batch.set(id) { (fields) throws(SyncError) in
            fields[PairWatch.member] = Array("\(number)".utf8)[...]
          }
        }
        return true
      }
      guard areThere else { return }
      world.pairs.made(number, of: [id, other])
      trace(as: .edit, "edits \(id) and \(other) together")
      world.ledger.saw(.edited)
    } catch {
      note(editing: id, error)
    }
  }

  /// Edits while the clock is a year ahead, and puts it right.
  private func editUnderAWrongClock(_ engine: SyncEngine) async {
    let year = Duration.seconds(365 * 24 * 3600)
    clock.timestamp = clock.timestamp + year
    let id = world.edits.anyRecord()
    if schema[id.type] != nil {
      do throws(SyncError) {
        try await world.write(id, by: engine)
        trace(as: .edit, "edits \(id) while its clock is a year ahead")
        world.ledger.saw(.clockPutRight)
      } catch {
        note(editing: id, error)
      }
    }
    clock.timestamp = clock.timestamp - year
  }

  /// Adds one to the number that all writers add to.
  private func add(_ engine: SyncEngine) async {
    world.pairs.edited(Sums.id)
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
      var now = try? before?.payload.decoded(as: LeagueForm.self, key: id.key)
      // The remote's key for the record is no change of it.
      if self.world.keys.id(of: id) != nil { now?.id = read.id }
      // A record that a clean-up has hidden is as it was, and is shown again.
      let isHidden = self.world.watch.lastView.withheld[.record(id)]?.kind == .hidden
      if demandsNoChange, before == nil && !isHidden || now != nil && now != read {
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
    guard world.choices.once(in: 2) else { return }
    try? await clock.pause(for: world.choices.duration(.zero...(.seconds(20))))
    if isDead { return }
    form.name = read.name
    try await writeAgain(form, afterSaving: filled.name, id, engine)
  }

  /// Writes a form once more, in which its name was set back.
  ///
  /// Another writer's name meets the type's policy, so it is not checked.
  private func writeAgain(
    _ form: Stored<LeagueForm>, afterSaving name: Int, _ id: RecordID, _ engine: SyncEngine
  ) async throws(SyncError) {
    let isLost = try await engine.edits.perform { (batch) throws(SyncError) -> Bool in
      let before = try batch.record(id)?.payload
      try batch.upsert(form)
      guard before?.hasName(name) ?? false, let after = try batch.record(id)?.payload else { return false }
      self.world.ledger.saw(.formWrittenAgain)
      return !after.hasName(form.name)
    }
    if isLost {
      world.ledger.report(
        .noLostEdit, "\(self) sets the name of \(id) back in its form, and it stays as it was saved",
        about: [id])
    }
    trace(as: .edit, "writes its form of \(id) again")
  }

  /// Records a sighting, or finds that one was recorded a short time ago.
  private func see(_ engine: SyncEngine) async {
    let key = "l\(world.choices.number(in: 1...world.shape.keys))"
    let id = RecordID(type: "leagues", key: key)
    world.pairs.edited(id)
    do throws(SyncError) {
      // All sightings differ, so each recorded one is an edit.
      let league = SeenLeague(id: key, name: world.nextNumber())
      switch try await engine.throttle(every: .seconds(60)).record(league, key: key) {
      case .recorded:
        trace(as: .edit, "records that it saw \(id)")
        world.ledger.saw(.sightingRecorded)
      case .cached:
        world.ledger.saw(.sightingCached)
        // The record may have moved to the key that the remote has given it.
        if !([id] + [world.keys.id(of: id)].compactMap(\.self)).contains(where: world.watch.edits.isRecorded)
        {
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
  func letRefusedEditsGo(isFirst: Bool) async {
    guard let engine else { return }
    world.pairs.allowed()
    do throws(SyncError) {
      for entity in schema.entities {
        // A postponed edit is sent without a retry.
        let pending = try await engine.edits.pending(entity.type)
        let refused = pending.filter {
          $0.mayHaveMadeItsRecord || (isFirst ? $0.mayBeTakenNow : $0.isOfBrokenGroup)
        }
        for entry in refused where entry.mayHaveMadeItsRecord {
          world.keys.sendsAgain(entry.id)
          // What others refer to cannot be given up, and is sent again.
          if world.choices.below(2) == 1 { try? await engine.edits.discard(entry.id) }
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
  /// Whether the name is a number, however the remote spells it.
  fileprivate func hasName(_ number: Int) -> Bool {
    (try? values(of: ["name"])) == [.integer(Int64(number))]
  }

  /// Whether two payloads differ at most in one member, besides the stamps of edits.
  fileprivate func differs(from other: Payload, onlyIn field: FieldName) -> Bool {
    guard var ours = try? FieldMap(self), var theirs = try? FieldMap(other) else { return false }
    for name in [field, .editStamp, "stamp"] { (ours[name], theirs[name]) = (nil, nil) }
    return ours.payload.hasSameMembers(as: theirs.payload)
  }
}

extension World {
  /// Whether the app makes atomic groups of two edits.
  fileprivate var makesPairs: Bool {
    // A move to another key would have to be followed here.
    guard records == nil, !shape.assignsKeys, remotes.home.sink?.appliesGroups ?? false else { return false }
    let limits = [shape.remote.pushLimits, shape.remote.acceptedAtOnce].compactMap(\.self)
    // Pairs with a record in common become one group.
    return limits.allSatisfy { $0.maximumRecords > 20 && $0.maximumBytes > 20_000 }
  }
}

/// A cancellation token that is cancelled after a number of checks.
///
/// It cancels between two steps that take no time.
private final class LateStop: CancellationToken {
  private let patience: Mutex<Int>

  init(afterAnswers patience: Int) {
    self.patience = Mutex(patience)
  }

  var isCancelled: Bool {
    patience.withLock { patience in
      if patience > 0 { patience -= 1 }
      return patience == 0
    }
  }
}
