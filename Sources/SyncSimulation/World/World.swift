import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// One world: a remote with its writers, a store, the processes that sync into it, and whatever disturbs them.
final class World: Sendable {
  let trace: Trace
  let choices: Choices
  let ledger: Ledger
  let shape: WorldShape
  let executor: SeededExecutor
  let time: VirtualTime
  let remote: InMemoryRemote
  let source: any RemoteRecordSource
  /// Where edits are pushed to; `nil` in a world without.
  let sink: (any RemoteRecordSink)?
  private let policy: WatchedPolicy
  let edits: RemoteEdits
  let bench: StoreBench
  let faults: FaultPlan
  let watch: Watch
  let machines: [ManualClock]
  let lanes: [SeededExecutor.Lane]
  private let serverClock = ManualClock()
  private let databaseClock = ManualClock()
  private let home: SeededExecutor.Lane

  struct State {
    var isCalm = false
    var isOffline = false
    var isOver = false
    var schema = 1
    var lastNumber = 100
    var survivors: [Int: Incarnation] = [:]
    var lives: [Int: Int] = [:]
    var current: [Int: Incarnation] = [:]
    /// Every life of every process.
    var incarnations: [Incarnation] = []
    /// The declarations, by schema.
    var graphs: [Int: EntityGraph] = [:]
  }
  let state = Mutex(State())

  /// A world that has not begun.
  init(_ plan: WorldPlan, choices: Choices, trace: Trace) throws(SyncError) {
    self.trace = trace
    self.choices = choices
    ledger = Ledger(trace: trace)
    shape = WorldShape(choices, allowing: plan.hazards, isSmall: plan.fault != nil)
    executor = SeededExecutor(choices: choices, trace: trace)
    executor.setHabit(shape.habit)
    home = executor.lane(0)
    let executor = executor
    let shape = shape
    lanes = (1...shape.processes).map { executor.lane($0) }
    machines = shape.rates.map { _ in ManualClock() }
    let (serverClock, databaseClock, time) = (
      serverClock, databaseClock,
      VirtualTime(
        zip(machines, shape.rates).map { .init(clock: $0, rate: $1) }
          + [.init(clock: serverClock, rate: 1000), .init(clock: databaseClock, rate: 1000)])
    )
    self.time = time
    trace.stamp { time.elapsed }
    remote = InMemoryRemote(configuration: shape.remote, clock: serverClock)
    source = plan.source(remote)
    sink = Self.sink(for: remote, source: source, shape)
    policy = Self.policy(shape, plan, ledger)
    bench = try plan.stores { databaseClock.timestamp }
    faults = FaultPlan(shape.hazards, single: plan.fault, choices: choices)
    let graph = try shape.graph(schema: 1)
    let ids = graph.entities.flatMap { entity in
      (Array(1...shape.keys) + [99]).map {
        RecordID(type: entity.type, key: "\(entity.type.rawValue.prefix(1))\($0)")
      }
    }
    watch = Watch(
      types: graph.entities.map(\.type), ids: ids, versions: source.capabilities.versions,
      leases: LeaseWatch(now: { databaseClock.timestamp }, ledger: ledger),
      edits: EditWatch(remote: remote, ledger: ledger), hasEdits: sink != nil, ledger: ledger)
    edits = RemoteEdits(
      remote, shape: shape, clock: serverClock, choices: choices, watch: watch, ledger: ledger, trace: trace)
  }

  private static func sink(
    for remote: InMemoryRemote, source: any RemoteRecordSource, _ shape: WorldShape
  ) -> (any RemoteRecordSink)? {
    // A remote that numbers its records by the scan cannot tell what a push led to.
    guard shape.hasEdits, source.capabilities.versions != .perScan else { return nil }
    return source as? any RemoteRecordSink ?? (source.identity == remote.identity ? remote : nil)
  }

  private static func policy(_ shape: WorldShape, _ plan: WorldPlan, _ ledger: Ledger) -> WatchedPolicy {
    if let (policy, treatsSidesAlike) = plan.policy {
      return WatchedPolicy(base: policy, treatsSidesAlike: treatsSidesAlike, ledger: ledger)
    }
    return switch shape.policy {
    case .lastWrite: WatchedPolicy(base: LastWriteWins(), treatsSidesAlike: true, ledger: ledger)
    case .fieldwise: WatchedPolicy(base: FieldwiseLastWriteWins(), treatsSidesAlike: true, ledger: ledger)
    case .server: WatchedPolicy(base: ServerWins(), treatsSidesAlike: false, ledger: ledger)
    }
  }

  /// How a process settles its edits.
  var editOptions: EditOptions {
    EditOptions(policy: policy, makeRoom: { [self] in makeRoom() })
  }

  /// What an app does whose remote is full: sometimes it can make room.
  private func makeRoom() -> Bool {
    guard choices.below(2) == 1 else { return false }
    trace.tell("remote", "has room again")
    ledger.saw(.roomMade)
    remote.recordQuota = nil
    return true
  }

  /// A number that nobody had before.
  func nextNumber() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  var isCalm: Bool { state.withLock { $0.isCalm } }
  var isOffline: Bool { state.withLock { $0.isOffline } }

  /// The most jobs that a world of this size may need.
  private static let maximumSteps = 50_000

  // MARK: The run

  /// Lets the world happen, on the calling thread, and takes it apart.
  func run() {
    defer { takeApart() }
    let main = Task(executorPreference: home) { await self.live() }
    while !state.withLock({ $0.isOver }) {
      if executor.step() {
        guard executor.steps < Self.maximumSteps else {
          ledger.report(.liveness, "the world does not come to an end")
          main.cancel()
          return
        }
      } else if !time.advance() {
        ledger.report(.liveness, "everybody waits and nobody can go on")
        return
      }
    }
    while executor.step() {}
    if executor.foreignJobs > 0 {
      ledger.report(.containment, "\(Counted(executor.foreignJobs, "job")) came from other threads")
    }
    if time.sleepers > 0 {
      ledger.report(.containment, "\(Counted(time.sleepers, "sleep is", "sleeps are")) left over")
    }
  }

  /// A world and its processes hold each other, and would stay for ever.
  private func takeApart() {
    let incarnations = state.withLock { state in
      defer { (state.incarnations, state.current, state.survivors) = ([], [:], [:]) }
      return state.incarnations
    }
    for incarnation in incarnations { incarnation.takeApart() }
  }

  /// The declarations, as an app knows them that understands a schema.
  func graph(schema: Int) -> EntityGraph? {
    if let graph = state.withLock({ $0.graphs[schema] }) { return graph }
    let graph = try? shape.graph(schema: schema)
    state.withLock { $0.graphs[schema] = graph }
    return graph
  }

  private func live() async {
    for _ in 0..<choices.number(in: 3...25) { edits.edit()?.commit() }
    await withTaskGroup(of: Void.self) { group in
      for number in 1...shape.writers { group.addTask { await self.write(number) } }
      group.addTask { await self.disturb() }
      for process in 1...shape.processes { group.addTask { await self.supervise(process) } }
    }
    await calmDown()
    state.withLock { $0.isOver = true }
  }

  /// Sleeps by the world's own clock.
  func pause(_ duration: Duration) async { try? await time.clock.pause(for: duration) }

  // MARK: Actors

  /// One of the remote's writers.
  private func write(_ number: Int) async {
    for _ in 0..<shape.edits {
      // Writers come in bursts.
      if choices.below(3) > 0 { await pause(choices.duration(.zero...(.seconds(20)))) }
      guard let (commit, delay) = edits.edit() else { continue }
      await pause(delay)
      commit()
    }
  }

  /// Keeps a process alive until it has done its syncs.
  private func supervise(_ process: Int) async {
    var left = shape.syncs
    while left > 0 {
      await pause(choices.duration(.zero...(.seconds(10))))
      guard let incarnation = await start(process) else {
        left -= 1
        continue
      }
      while left > 0, !incarnation.isDead {
        left -= 1
        await inProcess(incarnation) { await incarnation.syncInTrouble() }
      }
      if incarnation.isDead {
        await end(incarnation)
      } else {
        state.withLock { $0.survivors[process] = incarnation }
      }
    }
  }

  /// Starts a process; `nil` if it could not be set up.
  func start(_ process: Int) async -> Incarnation? {
    let (life, schema) = state.withLock { state in
      state.lives[process, default: 0] += 1
      return (state.lives[process, default: 1], state.schema)
    }
    guard let graph = graph(schema: schema) else { return nil }
    let incarnation = Incarnation(
      world: self, process: process, life: life, graph: graph, clock: machines[process - 1])
    state.withLock { state in
      state.current[process] = incarnation
      state.incarnations.append(incarnation)
    }
    incarnation.trace("starts, understanding schema \(schema)")
    await inProcess(incarnation) {
      do throws(SyncError) {
        try await incarnation.start()
      } catch {
        incarnation.trace("could not start: \(error.code)")
      }
    }
    if incarnation.engine != nil { return incarnation }
    await end(incarnation)
    return nil
  }

  func end(_ incarnation: Incarnation) async {
    guard let store = incarnation.store else { return }
    await bench.close(store)
  }

  /// Runs a piece of a process's life on its own lane.
  func inProcess(_ incarnation: Incarnation, _ work: @escaping @Sendable () async -> Void) async {
    let task = Task(executorPreference: lanes[incarnation.process - 1]) { await work() }
    incarnation.setEnd { task.cancel() }
    await task.value
  }

  /// What befalls the world, apart from single calls.
  private func disturb() async {
    for _ in 0..<choices.below(8) {
      await pause(choices.duration(.seconds(1)...(.seconds(40))))
      let process = choices.number(in: 1...shape.processes)
      switch choices.below(9) {
      case 1 where shape.hazards.contains(.stoppedProcesses): stopForAWhile(process)
      case 2 where shape.hazards.contains(.jumpingClocks): setClock(process)
      case 3 where shape.hazards.contains(.offlineTimes): await beOffline()
      case 4 where shape.hazards.contains(.newerSchemas): upgrade()
      case 5 where shape.hazards.contains(.crashes): state.withLock { $0.current[process] }?.kill()
      case 6 where shape.hazards.contains(.fullRemote): remote.recordQuota = 5
      case 7...8 where shape.hazards.contains(.capriciousRemote): edits.rule()
      default: break
      }
    }
  }

  /// Stops a process, from its next piece of work on, as an operating system does; it goes on after a while.
  func stopForAWhile(_ process: Int) {
    let duration = choices.duration(.seconds(5)...(.seconds(50)))
    trace.tell("app \(process)", "is stopped for \(duration)")
    if duration > shape.options.leaseDuration { ledger.saw(.processStopped) }
    executor.stop(lanes[process - 1])
    Task(executorPreference: home) { [self] in
      await pause(duration)
      executor.resume(lanes[process - 1])
      state.withLock { $0.current[process] }?.noteStall()
    }
  }

  private func setClock(_ process: Int) {
    ledger.saw(.clockJumped)
    switch choices.below(3) {
    case 0:
      let year = Duration.seconds(365 * 24 * 3600)
      let jump = choices.pick(Duration.seconds(3600), .seconds(-3600), .seconds(-60), year, .zero - year)
      trace.tell("app \(process)", "has its clock set by \(jump)")
      machines[process - 1].timestamp = machines[process - 1].timestamp + jump
    case 1:
      // Back by less than deltas reach back for; not forth while a change waits to be visible, which would be later than that by far.
      let jump = choices.pick(Duration.seconds(600), .milliseconds(-900))
      if jump > .zero, edits.isAnythingLate { return }
      trace.tell("remote", "has its clock set by \(jump)")
      serverClock.timestamp = serverClock.timestamp + jump
    default:
      let jump = choices.pick(Duration.seconds(20), .seconds(-20), .seconds(-600))
      trace.tell("store", "has its clock set by \(jump)")
      databaseClock.timestamp = databaseClock.timestamp + jump
    }
  }

  /// The processes as they are now, by their numbers.
  private var currentProcesses: [Incarnation] {
    let current = state.withLock { $0.current }
    return (1...shape.processes).compactMap { current[$0] }
  }

  private func beOffline() async {
    let isKnown = choices.below(2) == 1
    let duration = choices.duration(.seconds(1)...(.seconds(90)))
    trace.tell("network", "is away for \(duration)")
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

  /// From now on, processes that start understand the newer schema.
  private func upgrade() {
    trace.tell("app", "has an update")
    ledger.saw(.schemaUpgraded)
    state.withLock { $0.schema = 2 }
  }
}
