import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

extension Incarnation {
  /// Syncs among faults, perhaps with a cancellation or a second request.
  func syncInTrouble() async {
    try? await clock.pause(for: world.choices.duration(.zero...(.seconds(20))))
    guard !isDead else { return }
    let hazards = world.shape.hazards
    let request = request()
    let second = hazards.contains(.simultaneousCalls) && world.choices.once(in: 3)
    await withTaskGroup(of: Void.self) { group in
      if second {
        let delay = world.choices.duration(.zero...(.seconds(5)))
        let isJoining = world.choices.below(2) == 1
        group.addTask {
          try? await self.clock.pause(for: delay)
          await self.syncBeside(isJoining: isJoining)
        }
      }
      if world.hasSink { group.addTask { await self.editInTrouble() } }
      group.addTask { await self.sync(request) }
    }
    await rebuildInTrouble()
    await cleanUpInTrouble()
    await triggerInTrouble()
  }

  private func request() -> SyncRequest {
    let choices = world.choices
    var request = SyncRequest(allowsMassDeletion: choices.once(in: 3))
    let types = schema.entities.map(\.type)
    let type = types[choices.below(types.count)]
    if world.hasSink {
      request.direction = choices.pick(.both, .both, .both, .push, .pull)
    }
    switch choices.below(9) {
    case 5: request.types = [type]
    case 6: request.fullPull = [type]
    case 7: request.priority = [type]
    case 8: request.fullPull = Set(types)
    default: break
    }
    if world.edits.wasRestoredUntold, choices.below(2) == 1 { request.listEverythingAnew(types) }
    return request
  }

  private func sync(_ request: SyncRequest) async {
    let choices = world.choices
    guard world.shape.hazards.contains(.cancellations), choices.once(in: 2) else {
      await sync(request, token: nil, cancelledAt: { nil })
      return
    }
    let delay = choices.duration(.zero...(.seconds(20)))
    let (source, flag) = (CancellationSource(), FlagToken())
    let isSource = choices.below(2) == 1
    let cancelled = Moment()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        guard (try? await self.clock.pause(for: delay)) != nil else { return }
        self.trace(as: .stop, "is asked to stop syncing")
        cancelled.time = self.world.time.elapsed
        if isSource { source.cancel() } else { flag.isCancelled = true }
      }
      let token: any CancellationToken = isSource ? source : flag
      await sync(request, token: token, cancelledAt: { cancelled.time })
      group.cancelAll()
    }
  }

  /// Runs a sync that a second caller requests.
  private func syncBeside(isJoining: Bool) async {
    guard let engine else { return }
    do throws(SyncError) {
      _ = try await engine.sync(SyncRequest(ifBusy: isJoining ? .join : .refuse))
      if isJoining { world.ledger.saw(.joined) }
    } catch {
      world.trace.mix(error.code.description)
    }
  }

  private func sync(
    _ request: SyncRequest, token: (any CancellationToken)?, cancelledAt: () -> Duration?
  ) async {
    guard let engine else { return }
    begin(request)
    let outcome: Result<SyncResult, SyncError>
    do throws(SyncError) {
      outcome = .success(try await engine.sync(request, token: token))
    } catch {
      outcome = .failure(error)
    }
    guard !isDead else { return }
    switch outcome {
    case .success(let result): note(result)
    case .failure(let error):
      note(error)
      await forgetAccount(after: error)
    }
    guard let cancelledAt = cancelledAt() else { return }
    world.ledger.saw(.promptnessChecked)
    let begin = max(cancelledAt, lastStall)
    // The flag is checked ten times a second, and clocks may run slower by a tenth.
    if world.time.elapsed - begin > .milliseconds(500) {
      world.ledger.report(.cancellation, "\(self) went on syncing for \(world.time.elapsed - begin)")
    }
  }

  private func note(_ result: SyncResult) {
    let total = result.total
    trace(
      as: .sync,
      "synced\(result.wasCancelled ? ", as far as it may" : ""): \(total.fetched) fetched, \(total.inserted) "
        + "inserted, \(total.updated) updated, \(total.deleted) deleted, \(total.deferred) deferred")
    world.trace.mix(UInt64(total.outcomes))
    let ledger = world.ledger
    if result.wasCancelled { ledger.saw(.syncCancelled) }
    ledger.saw(.swept, times: total.swept)
    ledger.saw(.olderCopy, times: total.skippedOlder)
    ledger.saw(.replayed, times: total.replayed)
    if total.fetched != total.outcomes - total.swept {
      ledger.report(.balance, "\(self) fetched \(total.fetched) and counted \(total)")
    }
    for (type, counts) in result.entities {
      for (name, value) in SyncCounts.names where value(counts) < 0 {
        ledger.report(.balance, "\(self) counted \(value(counts)) \(name) of \(type)")
      }
    }
    for (type, error) in result.failures {
      trace(as: .sync, "\(type) failed: \(error.code)")
      demandCause(of: error)
    }
  }

  private func note(_ error: SyncError) {
    trace(as: .sync, "could not sync: \(error.code)")
    world.trace.mix(error.code.description)
    let ledger = world.ledger
    ledger.saw(.syncFailed)
    if error.code == .leaseLost { ledger.saw(.leaseLost) }
    if error.code == .syncAlreadyInProgress { ledger.saw(.leaseRefused) }
    if error.code == .declarationsReplaced {
      ledger.saw(.declarationsReplaced)
      if world.choices.below(2) == 1 { kill() }
    }
    demandCause(of: error)
  }

  /// Checks that a port has thrown each error, except for the engine's own errors.
  private func demandCause(of error: SyncError) {
    // An earlier process may have been asked for the pause.
    if error.code == .remoteUnavailable, error.operation.hasPrefix("reaching ") { return }
    var own: Set<SyncError.Code> = [.offline, .syncAlreadyInProgress, .inconsistentData]
    if world.shape.hazards.contains(.sharedVersions) { own.insert(.declarationsReplaced) }
    if world.shape.hazards.contains(.exchangedAccounts) { own.insert(.otherAccount) }
    if !own.contains(error.code), !causes.contains(error.code) {
      world.ledger.report(.honestErrors, "\(self) failed without a cause: \(error)")
    }
  }

  /// Syncs without faults: the sync must succeed.
  func syncInCalm(isFirst: Bool) async {
    guard let engine else { return }
    connectivity.connectivity = .online
    if world.hasSink { await letRefusedEditsGo(isFirst: isFirst) }
    var request = SyncRequest(allowsMassDeletion: true)
    if isFirst, process == 1, world.edits.wasRestoredUntold {
      request.listEverythingAnew(schema.entities.map(\.type))
    }
    begin(request)
    do throws(SyncError) {
      let result = try await engine.sync(request)
      note(result)
      for (type, error) in result.failures where !world.isToBeExpected(error, of: type) {
        world.ledger.report(.liveness, "with all faults gone, \(self) fails at \(type): \(error)", of: type)
      }
      if result.wasCancelled { world.ledger.report(.cancellation, "\(self) stopped without a cancellation") }
      await rebuildInCalm()
      await cleanUpInCalm()
    } catch {
      if await forgetAccount(after: error) { return await syncInCalm(isFirst: isFirst) }
      world.ledger.report(.liveness, "with all faults gone, \(self) fails: \(error)")
    }
  }
}

extension SyncRequest {
  /// Lists types again, as an app does that knows that its remote was restored.
  fileprivate mutating func listEverythingAnew(_ all: [RecordType]) {
    (types, fullPull, versionsStartOver) = (nil, Set(all), true)
    if direction == .push { direction = .both }
  }
}

/// The time of an event, if it happened.
private final class Moment: Sendable {
  private let state = Mutex<Duration?>(nil)

  var time: Duration? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
