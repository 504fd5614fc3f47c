import InMemoryAdapters
import SyncCore
import SyncMaintenance
import SyncModels
import SyncPorts
import Synchronization

extension World {
  /// Ends all faults and edits.
  ///
  /// Afterwards the processes must converge in a bounded number of syncs.
  func calmDown() async {
    trace.tell("world", as: .world, "all faults end")
    state.withLock { $0.isCalm = true }
    faults.calmDown()
    moods.calmDown()
    remotes.current.behaveWell()
    if !shape.hazards.contains(.lastingFullness) { remotes.current.recordQuota = nil }
    edits.relent()
    executor.resumeAll()
    let version = state.withLock { $0.version }
    if shape.hazards.contains(.cleanUps) {
      let rules = drawRules(version)
      state.withLock { $0.finalRules = rules }
    }
    // After a wipe, two listings have to lack a winner, and then each loser that takes its place.
    // Two devices may take turns until they have the same winners, and each what the other pushed.
    let rounds = otherDevice != nil || shape.hazards.contains(.duplicates) && edits.wasWiped ? 15 : 5
    var complaints = [Difference("nothing was synced", about: [])]
    for round in 1...rounds where !complaints.isEmpty {
      // Longer than any lease, and than the interval between two checks for deletions, by any
      // clock.
      await pause(.seconds(48 * 3600))
      await otherDevice?.syncInCalm()
      for process in 1...shape.processes {
        guard let incarnation = await survivor(process, version) else { return }
        await inProcess(incarnation) { await incarnation.syncInCalm(isFirst: round == 1) }
      }
      complaints = await differences(version, round: round)
      complaints += await otherDevice?.differences() ?? []
    }
    if complaints.isEmpty, otherDevice != nil { complaints = await differencesOnANewDevice(version) }
    if complaints.isEmpty, let incarnation = state.withLock({ $0.survivors[1] }) {
      await inProcess(incarnation) { await incarnation.signalInCalm() }
    }
    for complaint in complaints.prefix(3) {
      ledger.report(.convergence, complaint.description, about: complaint.records)
    }
    if complaints.isEmpty, let sums { check(sums) }
    ledger.saw(.pushRepeated, times: remotes.current.pushCounters.repeats)
    if !edits.wasWiped {
      for effect in watch.pushes.repeatedEffects(in: remotes.current).prefix(3)
      where !effect.records.contains(where: { shape.hidesResults(of: $0.type) }) {
        ledger.report(.oneEffect, effect.description, about: effect.records)
      }
    }
    for process in 1...shape.processes {
      if let incarnation = state.withLock({ $0.survivors[process] }) { await end(incarnation) }
    }
    bench.discard()
  }

  /// Compares a new device with the remote, after its first syncs.
  ///
  /// It may be the first to collapse duplicates: others wait while a third one is withheld.
  private func differencesOnANewDevice(_ version: AppVersion) async -> [Difference] {
    ledger.saw(.newDeviceCompared)
    do throws(SyncError) {
      let device = try await OtherDevice(in: self, version)
      var differences: [Difference] = []
      for _ in 1...3 {
        await device.syncInCalm()
        differences = await device.differences()
        if differences.isEmpty { break }
      }
      return differences
    } catch {
      return [Difference("a new device cannot start: \(error)", about: [])]
    }
  }

  /// Checks that nothing is lost of what all writers have added.
  private func check(_ sums: Sums) {
    let record = remotes.current.records(of: Sums.id.type).first { $0.key == Sums.id.key }
    let number = record.flatMap { Sums.number(in: $0.payload) }
    if watch.lastView.outbox[Sums.id] == nil, number != sums.total {
      ledger.report(
        .noLostEdit,
        "\(Sums.id) is \(number.map(String.init) ?? "gone") at the remote, and \(sums.total) with all that was added",
        about: [Sums.id])
    }
  }

  /// The running process, or a new one if it has ended or is too old.
  ///
  /// A process is also too old if another version has registered other declarations since.
  private func survivor(_ process: Int, _ version: AppVersion) async -> Incarnation? {
    let survivor = state.withLock { $0.survivors[process] }
    if let survivor, !survivor.isDead, survivor.version == version,
      await isRegistered(version, in: survivor.store)
    {
      return survivor
    }
    if let survivor { await end(survivor) }
    // An app that names the account forgets the former one, and starts again.
    var incarnation = await start(process)
    if incarnation == nil, shape.namesAccounts { incarnation = await start(process) }
    if incarnation == nil { ledger.report(.liveness, "app \(process) cannot start") }
    state.withLock { $0.survivors[process] = incarnation }
    return incarnation
  }

  private func isRegistered(_ version: AppVersion, in store: (any LocalStore)?) async -> Bool {
    guard let schema = schema(of: version) else { return true }
    let isDecided = try? await store?.read { (snapshot) throws(SyncError) in
      try snapshot.isDecided(by: schema)
    }
    return isDecided ?? true
  }

  /// Whether a type fails for a permanent reason that its failure names.
  ///
  /// Lookups are refused, or the sink throws at an edit.
  func isToBeExpected(_ error: SyncError, of type: RecordType) -> Bool {
    switch error.code {
    case .permissionDenied: shape.refusesLookups(of: type)
    case .invalidResponse:
      // An edit at which the sink throws takes its atomic group along, which may be of all types.
      !edits.choking.isEmpty
    default: false
    }
  }

  /// Whether a rebuild fails for a permanent reason.
  ///
  /// Deleted records of a type without lookups stay.
  func isToBeExpected(rebuilding error: SyncError) -> Bool {
    error.code == .pullIncomplete && shape.hazards.contains(.refusedLookups)
  }

  /// Compares the store with the remote, after a number of syncs without faults.
  private func differences(_ version: AppVersion, round: Int) async -> [Difference] {
    ledger.saw(.convergenceChecked)
    guard let survivor = state.withLock({ $0.survivors[1] }), let store = survivor.store,
      let engine = survivor.engine, let schema = schema(of: version)
    else { return [Difference("there is no store", about: [])] }
    do throws(SyncError) {
      let watch = watch
      var waiting: [PendingEdit] = []
      for type in watch.types { waiting += try await engine.edits.waiting(type) }
      let (view, told) = try await store.read { (snapshot) throws(SyncError) in
        (try watch.view(of: snapshot), try watch.observers.read(snapshot))
      }
      watch.compare(view, "at the end", as: schema)
      watch.checkObservers(told, "at the end")
      trace.mix(UInt64(view.live.count))
      let truth = RemoteTruth(
        remotes.current, schema, edits, keeps: finalRules, now: machines[0].timestamp, shape,
        hasSink: hasSink, showing: shows)
      // A verification finds what no reader should see, by other ways than the world's own checks.
      let report = try await StoreVerification(of: store).run()
      let differences =
        ConvergenceCheck(schema: schema, view: view, truth: truth, waiting: waiting).differences
        + view.dangling(in: schema, except: view.staying(in: schema)) + report.findings.map(Difference.init)
      trace.tell(
        "world", as: .world,
        "after \(Counted(round, "calm sync")): \(differences.isEmpty ? "all is well" : "\(differences)")",
        facts: .comparison(WorldEvent.Comparison(round, differences, view, truth)))
      return differences
    } catch {
      return [Difference("the store cannot be read: \(error)", about: [])]
    }
  }
}
