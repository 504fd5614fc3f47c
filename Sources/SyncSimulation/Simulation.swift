public import InMemoryAdapters
public import SyncCore
public import SyncModels
public import SyncPorts

/// A world in which everything that can happen to a sync does, decided by one number: faults, crashes, pauses, other clocks.
///
/// ```swift
/// let outcome = Simulation().run(seed: 7)
/// #expect(outcome.violations == [])
/// ```
///
/// One to three processes sync a remote that up to five writers edit into one store. Each call of a port may fail, before
/// its effect or after it, stall, or be the process's last. Then all faults end, and store and remote have to become
/// equal in a bounded number of syncs. The library's promises are checked at every commit and at the end.
///
/// A run happens on the calling thread, in virtual time, and the same seed gives the same run each time.
public struct Simulation: Sendable {
  /// What may go wrong; each world has a random part of it.
  public var hazards = Set(Hazard.allCases)

  private var stores: @Sendable (@escaping @Sendable () -> Timestamp) throws(SyncError) -> StoreBench
  private var source: @Sendable (InMemoryRemote) -> any RemoteRecordSource
  /// What is wrong with one of the ports, on purpose.
  var flaw: PortFlaw?
  private var policy: (policy: any MergePolicy, treatsSidesAlike: Bool)?

  /// A simulation of the library's own reference store and remote.
  public init() {
    stores = { (leaseClock) throws(SyncError) in
      let store = InMemoryStore(leaseClock: leaseClock)
      return StoreBench(open: { () async throws(SyncError) in store })
    }
    source = { $0 }
  }

  /// Puts another store into the world.
  ///
  /// - Parameter stores: Makes one world's store; it is given the clock that leases are to be judged by.
  public mutating func useStores(
    _ stores:
      @escaping @Sendable (_ leaseClock: @escaping @Sendable () -> Timestamp) throws(SyncError) ->
      StoreBench
  ) {
    self.stores = stores
  }

  /// Puts a source between the processes and the world's remote.
  ///
  /// - Parameter source: Makes the source that reads the remote, such as one that filters it, or one that speaks its own
  ///   protocol to it. If it is a ``RemoteRecordSink`` as well, edits are pushed to it; if not, and it has the remote's identity, to the
  ///   remote itself; otherwise nobody edits.
  public mutating func useSource(
    _ source: @escaping @Sendable (_ remote: InMemoryRemote) -> any RemoteRecordSource
  ) {
    self.source = source
  }

  /// Has conflicts settled by a policy, instead of the library's own.
  ///
  /// - Parameters:
  ///   - policy: Settles every clash; it is asked twice, and has to give one answer.
  ///   - treatsSidesAlike: Whether it must not matter which of two edits is the local one; then every replica comes to the same end.
  public mutating func useMergePolicy(_ policy: any MergePolicy, treatsSidesAlike: Bool = true) {
    self.policy = (policy, treatsSidesAlike)
  }

  /// Lets the world of a seed happen.
  ///
  /// - Complexity: O(1) worlds; some hundred commits.
  public func run(seed: UInt64) -> Outcome {
    run(keepsTimeline: false) { Choices(seed: seed, trace: $0) }
  }

  /// Lets a small world of a seed happen, of one process, with one fault at one call and none besides.
  ///
  /// - Parameters:
  ///   - call: The number of the call, counted from 1 over all calls of ports; ``Outcome/calls`` says how many there are. With 0
  ///     nothing fails.
  ///   - fault: What befalls it.
  public func run(seed: UInt64, fault: SweptFault, atCall call: Int) -> Outcome {
    run(keepsTimeline: false, fault: FaultPlan.Single(call: call, kind: fault)) {
      Choices(seed: seed, trace: $0)
    }
  }

  /// Lets a recorded world happen again.
  ///
  /// - Parameter keepsTimeline: Whether the outcome holds a line for everything that happened.
  public func replay(_ recording: Recording, keepsTimeline: Bool = false) -> Outcome {
    let single = recording.fault.map { FaultPlan.Single(call: $0.call, kind: $0.kind) }
    return run(keepsTimeline: keepsTimeline, fault: single) {
      Choices(script: recording.choices, trace: $0)
    }
  }

  private func run(
    keepsTimeline: Bool, fault: FaultPlan.Single? = nil, _ choices: (Trace) -> Choices
  ) -> Outcome {
    let trace = Trace(keepsLines: keepsTimeline)
    let choices = choices(trace)
    let plan = WorldPlan(
      hazards: hazards, fault: fault, stores: stores, source: source, flaw: flaw, policy: policy)
    do throws(SyncError) {
      let world = try World(plan, choices: choices, trace: trace)
      world.run()
      return Outcome(
        violations: world.ledger.violations, sights: world.ledger.sights, hazards: world.shape.hazards,
        hash: trace.hash, steps: world.executor.steps, calls: world.faults.calls,
        recording: Recording(
          choices: choices.made, fault: fault.map { Recording.Fault(call: $0.call, kind: $0.kind) }),
        timeline: trace.lines)
    } catch {
      return Outcome(
        violations: [Violation(promise: .containment, words: "the world could not be made: \(error)")],
        sights: [:], hazards: [], hash: trace.hash, steps: 0, calls: 0,
        recording: Recording(choices: choices.made), timeline: trace.lines)
    }
  }
}
