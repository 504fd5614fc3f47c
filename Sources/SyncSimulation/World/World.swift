import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// One world: a remote with its writers, a store, its processes, and their faults.
final class World: Sendable {
  let trace: Trace
  let choices: Choices
  let ledger: Ledger
  let shape: WorldShape
  /// The app's own records; `nil` for the built-in ones.
  let records: WorldRecords?
  let shows: @Sendable (RecordType) -> Condition?
  let executor: SeededExecutor
  let time: VirtualTime
  let remotes: Remotes
  let policy: WatchedPolicy
  let edits: RemoteEdits
  let bench: StoreBench
  let flaw: PortFlaw?
  let faults: FaultPlan
  /// How the remotes break their word.
  let moods: Moods
  /// The number that all writers add to; `nil` in a world without one.
  let sums: Sums?
  let watch: Watch
  let pairs = PairWatch()
  /// The keys of new records, in a world whose remote gives them.
  let keys = AssignedKeys()
  let machines: [ManualClock]
  let processExecutors: [SeededExecutor.ProcessExecutor]
  let serverClock = ManualClock()
  let databaseClock = ManualClock()
  let home: SeededExecutor.ProcessExecutor

  struct State {
    var isCalm = false
    var isOffline = false
    var isOver = false
    /// The newest version of the app.
    var version = AppVersion()
    var lastNumber = 100
    var survivors: [Int: Incarnation] = [:]
    var lives: [Int: Int] = [:]
    var current: [Int: Incarnation] = [:]
    /// Every life of every process.
    var incarnations: [Incarnation] = []
    /// The schemas, by the version of the app.
    var schemas: [AppVersion: SyncSchema] = [:]
    /// The last rules of clean-ups.
    var finalRules: FinalRules?
    /// The bundled data set.
    var bundle: [UInt8]?
    /// Another device of the person.
    var otherDevice: OtherDevice?
  }
  let state = Mutex(State())
  /// The work of others between a change's effect and the sink's answer.
  private let meanwhile = Between()

  /// Creates a world of a simulation.
  ///
  /// - Parameter fault: The only fault; `nil` for those of the hazards.
  init(
    of simulation: Simulation, fault: Recording.Fault?, choices: Choices, trace: Trace
  ) throws(SyncError) {
    self.trace = trace
    self.choices = choices
    ledger = Ledger(trace: trace)
    shape = WorldShape(choices, allowing: simulation.possibleHazards, isSmall: fault != nil)
    executor = SeededExecutor(choices: choices, trace: trace)
    executor.setHabit(shape.habit)
    home = executor.processExecutor(0)
    let executor = executor
    let shape = shape
    processExecutors = (1...shape.processes).map { executor.processExecutor($0) }
    machines = shape.rates.map { _ in ManualClock() }
    let (serverClock, databaseClock, time) = (
      serverClock, databaseClock,
      VirtualTime(
        zip(machines, shape.rates).map { .init(clock: $0, rate: $1) }
          + [.init(clock: serverClock, rate: 1000), .init(clock: databaseClock, rate: 1000)])
    )
    self.time = time
    trace.stamp { time.elapsed }
    let meanwhile = meanwhile
    let moods = Moods(shape, choices: choices, ledger: ledger, clock: serverClock)
    self.moods = moods
    let (keys, ledger) = (keys, ledger)
    remotes = Remotes { identity in
      let remote = InMemoryRemote(identity: identity, configuration: shape.remote, clock: serverClock)
      var source = simulation.source(remote)
      var sink = Self.sink(for: remote, source: source, shape, keys, ledger) { meanwhile.happen(to: $0) }
      if moods.areAny { source = CapriciousSource(base: source, remote: remote, moods: moods) }
      if let base = sink, shape.volatileField != nil || shape.normalises {
        sink = CapriciousSink(base: base, moods: moods, normalises: shape.normalises)
      }
      if let flaw = simulation.flaw {
        source = FlawedSource(base: source, flaw: flaw)
        sink = sink.map { FlawedSink(base: $0, flaw: flaw) }
      }
      return Remotes.Home(remote: remote, source: source, sink: sink)
    }
    policy = Self.policy(shape, simulation, ledger)
    flaw = simulation.flaw
    bench = try simulation.stores { databaseClock.timestamp }
    faults = FaultPlan(shape.hazards, single: fault, choices: choices)
    records = simulation.records
    shows = simulation.shows
    let schema = if let records { records.schema } else { try AppVersion().schema(shape) }
    let names = simulation.records ?? WorldRecords(schema)
    let ids = schema.entities.flatMap { entity in
      (Array(1...shape.keys) + [98, 99]).map {
        RecordID(type: entity.type, key: names.key(of: entity.type, $0))
      }
    }
    watch = Watch(
      types: schema.entities.map(\.type), ids: ids, versions: remotes.home.source.capabilities.versions,
      leases: LeaseWatch(now: { databaseClock.timestamp }, ledger: ledger),
      edits: EditWatch(remotes: remotes, keys: keys, ledger: ledger, volatileField: shape.volatileField),
      keys: keys,
      hasEdits: remotes.home.sink != nil,
      ledger: ledger)
    sums = shape.hasSums && simulation.policy == nil && remotes.home.sink != nil ? Sums() : nil
    edits = RemoteEdits(
      remotes, shape: shape, records: simulation.records, sums: sums, keys: keys, clock: serverClock,
      choices: choices,
      watch: watch,
      ledger: ledger, trace: trace)
    let edits = edits
    meanwhile.set { edits.goOn(from: $0) }
  }

  private static func sink(
    for remote: InMemoryRemote, source: any RemoteRecordSource, _ shape: WorldShape, _ keys: AssignedKeys,
    _ ledger: Ledger, meanwhile: @escaping @Sendable (RecordID) -> Void
  ) -> (any RemoteRecordSink)? {
    // A remote that numbers records by scan cannot report the version that a push led to.
    guard shape.hasEdits, source.capabilities.versions != .perScan else { return nil }
    if let sink = source as? any RemoteRecordSink, !(source is InMemoryRemote) { return sink }
    guard source.identity == remote.identity else { return nil }
    let hazards = shape.hazards
    var sink: any RemoteRecordSink = remote
    if shape.assignsKeys {
      sink = KeyedSink(base: sink) { change, given in
        ledger.saw(.keyAssigned)
        if keys.gave(given, for: change) {
          ledger.report(.oneEffect, "the edit of \(change.id) makes \(given), and made another record before")
        }
      }
    }
    if hazards.contains(.uniqueValues) { sink = UniqueValuesSink(base: sink, remote: remote, keys: keys) }
    if shape.assignsField, let field = shape.immutableField {
      sink = AssigningSink(base: sink, field: field)
    }
    if hazards.contains(.presentAnswers) || hazards.contains(.respelling) {
      sink = HabitualSink(
        base: sink, remote: remote, answersAsOfNow: hazards.contains(.presentAnswers),
        respells: hazards.contains(.respelling), meanwhile: meanwhile)
    }
    return sink
  }

  private static func policy(_ shape: WorldShape, _ simulation: Simulation, _ ledger: Ledger) -> WatchedPolicy
  {
    let (policy, treatsSidesAlike): (any MergePolicy, Bool) =
      if let policy = simulation.policy {
        policy
      } else {
        switch shape.policy {
        case .lastWrite: (LastWriteWins(), true)
        case .fieldwise: (FieldwiseLastWriteWins(), true)
        case .server: (ServerWins(), false)
        }
      }
    let breaks = shape.hazards.contains(.brokenPolicies)
    if shape.hasSums, simulation.policy == nil {
      return WatchedPolicy(
        base: SummingPolicy(base: policy, ledger: ledger), treatsSidesAlike: treatsSidesAlike, ledger: ledger)
    }
    return WatchedPolicy(
      base: breaks ? BrokenPolicy(base: policy, ledger: ledger) : policy, treatsSidesAlike: treatsSidesAlike,
      ledger: ledger)
  }

  /// The edit options of a process.
  var editOptions: EditOptions {
    EditOptions(policy: policy, onStorageFull: { [self] in onStorageFull() })
  }

  /// The app's reaction to a full remote. Sometimes it makes room.
  private func onStorageFull() -> Bool {
    guard choices.below(2) == 1 else { return false }
    trace.tell("remote", as: .world, "has room again")
    ledger.saw(.roomMade)
    remotes.current.recordQuota = nil
    return true
  }

  /// A new unique number.
  func nextNumber() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Whether edits are pushed.
  var hasSink: Bool { remotes.home.sink != nil }

  /// Another device of the person; `nil` in a world without one.
  private(set) var otherDevice: OtherDevice? {
    get { state.withLock { $0.otherDevice } }
    set { state.withLock { $0.otherDevice = newValue } }
  }

  var finalRules: FinalRules? { state.withLock { $0.finalRules } }
  var isCalm: Bool { state.withLock { $0.isCalm } }
  var isOffline: Bool { state.withLock { $0.isOffline } }

  /// The most jobs of a world of this size.
  private static let maximumSteps = 50_000

  // MARK: The run

  /// Runs the world on the calling thread, and then releases it.
  func run() {
    defer { takeApart() }
    let main = Task(executorPreference: home) { await self.live() }
    while !state.withLock({ $0.isOver }) {
      if executor.step() {
        guard executor.steps < Self.maximumSteps else {
          ledger.report(.liveness, "the world does not end")
          main.cancel()
          return
        }
      } else if !time.advance() {
        ledger.report(.liveness, "all tasks wait and none can continue")
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

  /// A world and its processes refer to each other, and would otherwise never be freed.
  private func takeApart() {
    let incarnations = state.withLock { state in
      defer { (state.incarnations, state.current, state.survivors, state.otherDevice) = ([], [:], [:], nil) }
      return state.incarnations
    }
    for incarnation in incarnations { incarnation.takeApart() }
  }

  /// The schema of a version of the app.
  func schema(of version: AppVersion) -> SyncSchema? {
    if let records { return records.schema }
    if let schema = state.withLock({ $0.schemas[version] }) { return schema }
    let schema = try? version.schema(shape)
    state.withLock { $0.schemas[version] = schema }
    return schema
  }

  private func live() async {
    if sums != nil { remotes.current.upsert(Sums.id.type, Sums.id.key, Sums.beginning) }
    for _ in 0..<choices.number(in: 3...25) { edits.edit()?.commit() }
    if shape.hazards.contains(.bundles), !shape.exchangesAccounts { await bundle() }
    if shape.hasOtherDevices, hasSink, records == nil {
      otherDevice = try? await OtherDevice(in: self, AppVersion())
    }
    await withTaskGroup(of: Void.self) { group in
      for number in 1...shape.writers { group.addTask { await self.write(number) } }
      group.addTask { await self.disturb() }
      if shape.hazards.contains(.restoredRemotes) { group.addTask { await self.restoreOnce() } }
      if let otherDevice { group.addTask { await otherDevice.live() } }
      for process in 1...shape.processes { group.addTask { await self.supervise(process) } }
    }
    await calmDown()
    state.withLock { $0.isOver = true }
  }

  /// Sleeps on the world's own clock.
  func pause(_ duration: Duration) async { try? await time.clock.pause(for: duration) }

  // MARK: Actors

  /// One of the remote's writers.
  private func write(_ number: Int) async {
    for _ in 0..<shape.edits {
      // Writers write in bursts.
      if choices.below(3) > 0 { await pause(choices.duration(.zero...(.seconds(20)))) }
      guard let (commit, delay) = edits.edit() else { continue }
      await pause(delay)
      commit()
    }
  }

  /// Restarts a process until it has done its syncs.
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

  /// Starts a process; `nil` if its setup failed.
  func start(_ process: Int) async -> Incarnation? {
    let (life, version) = state.withLock { state in
      state.lives[process, default: 0] += 1
      return (state.lives[process, default: 1], state.version)
    }
    guard let schema = schema(of: version) else { return nil }
    let incarnation = Incarnation(
      world: self, process: process, life: life, version: version, schema: schema,
      clock: machines[process - 1])
    state.withLock { state in
      state.current[process] = incarnation
      state.incarnations.append(incarnation)
    }
    // Only the built-in records have versions of the app.
    incarnation.trace(as: .life, records == nil ? "starts, as \(version)" : "starts")
    await inProcess(incarnation) {
      do throws(SyncError) {
        try await incarnation.start()
      } catch {
        incarnation.trace(as: .life, "could not start: \(error.code)")
        await incarnation.forgetAccount(after: error)
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

  /// Runs a part of a process's life on its own executor.
  func inProcess(_ incarnation: Incarnation, _ work: @escaping @Sendable () async -> Void) async {
    let task = Task(executorPreference: processExecutors[incarnation.process - 1]) { await work() }
    incarnation.setEnd { task.cancel() }
    await task.value
  }
}

/// An action between two others, set after both exist.
private final class Between: Sendable {
  private let action = Mutex<(@Sendable (RecordID) -> Void)?>(nil)

  func set(_ action: @escaping @Sendable (RecordID) -> Void) { self.action.withLock { $0 = action } }

  func happen(to id: RecordID) { action.withLock { $0 }?(id) }
}
