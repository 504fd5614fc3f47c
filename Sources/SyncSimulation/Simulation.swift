public import InMemoryAdapters
public import SyncCore
public import SyncModels
public import SyncPorts

/// A simulated world with all hazards of a sync, determined by one number.
///
/// The hazards include faults, crashes, pauses and wrong clocks.
///
/// ```swift
/// let outcome = Simulation().run(seed: 7)
/// #expect(outcome.violations == [])
/// ```
///
/// One to three processes sync a remote that up to five writers edit into one store. Each call of a
/// port may fail before or after its effect, stall, or be the process's last. Then all faults end,
/// and store and remote must become equal in a bounded number of syncs. The library's promises are
/// checked at every commit and at the end.
///
/// A run happens on the calling thread, in virtual time. The same seed gives the same run.
public struct Simulation: Sendable {
  /// The possible hazards. Each world has a random part of them.
  public var hazards = Set(Hazard.allCases)

  private(set) var stores: @Sendable (@escaping @Sendable () -> Timestamp) throws(SyncError) -> StoreBench
  private(set) var source: @Sendable (InMemoryRemote) -> any RemoteRecordSource
  private(set) var shows: @Sendable (RecordType) -> Condition? = { _ in nil }
  /// A flaw of one of the ports, introduced on purpose.
  var flaw: PortFlaw?
  private(set) var policy: (policy: any MergePolicy, treatsSidesAlike: Bool)?
  /// What the worlds have to show of that policy.
  private(set) var coverage: PolicyCoverage?
  private(set) var records: WorldRecords?

  /// Creates a simulation of the library's own reference store and remote.
  public init() {
    stores = { (leaseClock) throws(SyncError) in
      let store = InMemoryStore(leaseClock: leaseClock)
      return StoreBench(open: { () async throws(SyncError) in store })
    }
    source = { $0 }
  }

  /// Replaces the store of the worlds.
  ///
  /// - Parameter stores: Creates one world's store. Its argument is the clock for leases.
  public mutating func useStores(
    _ stores:
      @escaping @Sendable (_ leaseClock: @escaping @Sendable () -> Timestamp) throws(SyncError) ->
      StoreBench
  ) {
    self.stores = stores
  }

  /// Inserts a source between the processes and the world's remote.
  ///
  /// - Parameters:
  ///   - source: Creates the source that reads the remote, for example one that filters it, or one
  ///     with another protocol. If it is a ``RemoteRecordSink`` as well, edits are pushed to it. If
  ///     it is not, and has the remote's identity, edits are pushed to the remote itself. Otherwise
  ///     no process edits.
  ///   - shows: What a source that filters shows of a type's records; `nil` for all of them. Stores
  ///     then have to end with these.
  public mutating func useSource(
    _ source: @escaping @Sendable (_ remote: InMemoryRemote) -> any RemoteRecordSource,
    showing shows: @escaping @Sendable (RecordType) -> Condition? = { _ in nil }
  ) {
    self.source = source
    self.shows = shows
  }

  /// Replaces the merge policy.
  ///
  /// - Parameters:
  ///   - policy: Resolves every merge conflict. It is called twice, and must return one resolution.
  ///   - treatsSidesAlike: Whether the policy must ignore which of two edits is the local one.
  ///     Every replica then converges to the same state.
  ///   - reasons: The reasons that the policy gives, one for each of its branches. A campaign in
  ///     which one was never given is reported as a failure of ``Promise/coverage``, and so is one
  ///     in which the policy was not asked, or had one decision for everything.
  public mutating func useMergePolicy(
    _ policy: any MergePolicy, treatsSidesAlike: Bool = true, reasons: Set<String> = []
  ) {
    self.policy = (policy, treatsSidesAlike)
    coverage = PolicyCoverage(reasons: reasons)
  }

  /// Replaces the records of the worlds with the app's own.
  ///
  /// The hazards that belong to the built-in records, such as duplicates, circles and updates of
  /// the app, then do not occur.
  public mutating func useRecords(_ records: WorldRecords) {
    self.records = records
  }

  /// Runs the world of a seed.
  ///
  /// - Complexity: O(1) worlds; some hundred commits.
  public func run(seed: UInt64) -> Outcome {
    run(keepsTimeline: false) { Choices(seed: seed, trace: $0) }
  }

  /// The hazards of the world of a seed.
  func hazards(ofWorld seed: UInt64) -> Set<Hazard> {
    let choices = Choices(seed: seed, trace: Trace(keepsEvents: false))
    return WorldShape(choices, allowing: possibleHazards, isSmall: false).hazards
  }

  /// The hazards that fit the worlds' records.
  var possibleHazards: Set<Hazard> {
    records == nil ? hazards : hazards.subtracting(Hazard.ofBuiltInRecords)
  }

  /// Runs a small world of one process, with only one fault at one call.
  ///
  /// - Parameters:
  ///   - seed: The number that determines the world.
  ///   - call: The number of the call, counted from 1 over all calls of ports; ``Outcome/calls``
  ///     has their number. With 0 nothing fails.
  ///   - fault: The kind of the fault.
  public func run(seed: UInt64, fault: SweptFault, atCall call: Int) -> Outcome {
    run(keepsTimeline: false, fault: Recording.Fault(call: call, kind: fault)) {
      Choices(seed: seed, trace: $0)
    }
  }

  /// Replays a recorded world, with the hazards that it was made with.
  ///
  /// - Parameters:
  ///   - recording: The choices of the world.
  ///   - keepsTimeline: Whether the outcome has a line for each event.
  public func replay(_ recording: Recording, keepsTimeline: Bool = false) -> Outcome {
    var simulation = self
    simulation.hazards = recording.hazards ?? hazards
    return simulation.run(keepsTimeline: keepsTimeline, fault: recording.fault) {
      Choices(script: recording.choices, trace: $0)
    }
  }

  private func run(
    keepsTimeline: Bool, fault: Recording.Fault? = nil, _ choices: (Trace) -> Choices
  ) -> Outcome {
    let trace = Trace(keepsEvents: keepsTimeline)
    let choices = choices(trace)
    do throws(SyncError) {
      let world = try World(of: self, fault: fault, choices: choices, trace: trace)
      world.run()
      return Outcome(
        violations: world.ledger.violations, sights: world.ledger.sights, decisions: world.ledger.decisions,
        hazards: world.shape.hazards,
        hash: trace.hash, steps: world.executor.steps, calls: world.faults.calls,
        recording: Recording(
          choices: choices.made, fault: fault, version: LibraryVersion.current,
          hazards: hazards == Set(Hazard.allCases) ? nil : hazards),
        timeline: trace.events.timeline, events: trace.events)
    } catch {
      return Outcome(
        violations: [Violation(promise: .containment, words: "the world could not be made: \(error)")],
        sights: [:], hazards: [], hash: trace.hash, steps: 0, calls: 0,
        recording: Recording(choices: choices.made), timeline: trace.events.timeline, events: trace.events)
    }
  }
}

/// Opens the store of one world's processes.
///
/// All processes have the same data. Each life of a process opens the store again.
public struct StoreBench: Sendable {
  let open: @Sendable () async throws(SyncError) -> any LocalStore
  let close: @Sendable (any LocalStore) async -> Void
  let discard: @Sendable () -> Void

  /// Creates access to a world's store.
  ///
  /// All work must run on the calling task. A store that uses another thread makes runs differ, and
  /// fails them.
  ///
  /// - Parameters:
  ///   - open: Opens the store for a process that starts.
  ///   - close: Closes the store for a process that ends or is killed.
  ///   - discard: Deletes the data at the end of the world.
  public init(
    open: @escaping @Sendable () async throws(SyncError) -> any LocalStore,
    close: @escaping @Sendable (any LocalStore) async -> Void = { _ in },
    discard: @escaping @Sendable () -> Void = {}
  ) {
    self.open = open
    self.close = close
    self.discard = discard
  }
}
