import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

extension World {
  /// Makes faults that affect more than single calls.
  func disturb() async {
    for _ in 0..<choices.below(8) {
      await pause(choices.duration(.seconds(1)...(.seconds(40))))
      let process = choices.number(in: 1...shape.processes)
      switch choices.below(12) {
      case 1 where shape.hazards.contains(.stoppedProcesses): stopForAWhile(process)
      case 2 where shape.hazards.contains(.jumpingClocks): setClock(process)
      case 3 where shape.hazards.contains(.offlineTimes): await beOffline()
      case 4 where shape.hazards.contains(.newerSchemas): upgrade()
      case 5 where shape.hazards.contains(.crashes): state.withLock { $0.current[process] }?.kill()
      case 6 where shape.hazards.contains(.fullRemote): remotes.current.recordQuota = 5
      case 7...8 where shape.hazards.contains(.capriciousRemote): edits.rule()
      case 9 where shape.hazards.contains(.changingDeclarations): redeclare()
      case 10 where shape.hazards.contains(.exchangedSource): exchange()
      case 0 where shape.exchangesAccounts && hasSink: exchangeAccount()
      case 11 where shape.hazards.contains(.failingEdits): edits.choke()
      default: break
      }
    }
  }

  /// Stops a process at its next job, like an operating system, and resumes it later.
  func stopForAWhile(_ process: Int) {
    let duration = choices.duration(.seconds(5)...(.seconds(50)))
    trace.tell("app \(process)", as: .stop, "is stopped for \(duration)")
    if duration > shape.options.leaseDuration { ledger.saw(.processStopped) }
    executor.stop(processExecutors[process - 1])
    Task(executorPreference: home) { [self] in
      await pause(duration)
      executor.resume(processExecutors[process - 1])
      state.withLock { $0.current[process] }?.noteStall()
    }
  }

  private func setClock(_ process: Int) {
    ledger.saw(.clockJumped)
    switch choices.below(3) {
    case 0:
      let year = Duration.seconds(365 * 24 * 3600)
      let jump = choices.pick(Duration.seconds(3600), .seconds(-3600), .seconds(-60), year, .zero - year)
      trace.tell("app \(process)", as: .clock, "has its clock set by \(jump)")
      machines[process - 1].timestamp = machines[process - 1].timestamp + jump
    case 1:
      // The clock goes back by less than the overlap of deltas. It does not go forward while a
      // change is not visible yet, because that change would then be much too late.
      let jump = choices.pick(Duration.seconds(600), .milliseconds(-900))
      if jump > .zero, edits.isAnythingLate { return }
      trace.tell("remote", as: .clock, "has its clock set by \(jump)")
      serverClock.timestamp = serverClock.timestamp + jump
    default:
      let jump = choices.pick(Duration.seconds(20), .seconds(-20), .seconds(-600))
      trace.tell("store", as: .clock, "has its clock set by \(jump)")
      databaseClock.timestamp = databaseClock.timestamp + jump
    }
  }

  /// The current processes, by number.
  var currentProcesses: [Incarnation] {
    let current = state.withLock { $0.current }
    return (1...shape.processes).compactMap { current[$0] }
  }

  private func beOffline() async {
    let isKnown = choices.below(2) == 1
    let duration = choices.duration(.seconds(1)...(.seconds(90)))
    trace.tell("network", as: .fault, "is away for \(duration)")
    ledger.saw(.offline)
    state.withLock { $0.isOffline = true }
    for incarnation in currentProcesses where isKnown {
      incarnation.connectivity.connectivity = .offline
    }
    await pause(duration)
    state.withLock { $0.isOffline = false }
    for incarnation in currentProcesses {
      incarnation.connectivity.connectivity = .online
    }
  }

  /// Starts all later processes with the newer schema.
  private func upgrade() {
    trace.tell("app", as: .world, "has an update")
    ledger.saw(.schemaUpgraded)
    state.withLock { $0.version.schema = 2 }
  }

  /// Updates the app with another declaration.
  ///
  /// All processes end and restart, unless versions may share the store.
  private func redeclare() {
    let (former, version) = state.withLock { state in
      let former = state.version
      state.version = former.changed(choices)
      return (former, state.version)
    }
    trace.tell("app", as: .world, "has an update: \(version)")
    if former.teamKey != version.teamKey || former.hasGames != version.hasGames { watch.edits.keysChanged() }
    ledger.saw(.declarationsChanged)
    if shape.hazards.contains(.sharedVersions), choices.below(2) == 1 { return }
    for incarnation in currentProcesses { incarnation.kill() }
  }

  /// Restores the remote from a backup that was made some time before.
  func restoreOnce() async {
    await pause(choices.duration(.zero...(.seconds(40))))
    let backup = edits.backUp()
    for _ in 1...4 {
      await pause(choices.duration(.seconds(5)...(.seconds(60))))
      // The tokens of times alone need not show it. The app then lists everything again by itself.
      let isTold: Bool
      if case .modifiedSince = shape.remote.deltas { isTold = choices.below(2) == 0 } else { isTold = true }
      if edits.restore(backup, isTold: isTold) { return }
    }
  }

  /// Changes to another remote. All processes end and restart.
  private func exchange() {
    trace.tell("app", as: .world, "goes over to another remote")
    ledger.saw(.sourceExchanged)
    for incarnation in currentProcesses { incarnation.kill() }
    edits.settle(from: remotes.exchange())
    watch.pushes.begin()
  }
}
