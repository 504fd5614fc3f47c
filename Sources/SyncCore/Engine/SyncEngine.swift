public import SyncModels
public import SyncPorts

/// Keeps a store in step with a remote, and the remote with the app's edits.
///
/// ```swift
/// let engine = try await SyncEngine(schema: schema, store: store, source: source)
/// let result = try await engine.sync()
/// ```
///
/// A sync first pushes the edits in the outbox, if there is a sink for them. Then it pulls each
/// type, page by page, after the types that it refers to. Every page is merged in one transaction
/// with the checkpoint from which the next page continues. A sync can be stopped, or die, at any
/// moment, and the next sync resumes there. The engine starts no task that outlives a call, and may
/// be shared among tasks.
public final class SyncEngine: Sendable {
  /// The types that are synced.
  public let schema: SyncSchema
  let environment: RunEnvironment
  private let flight = SingleFlight()
  private let hub: EventHub

  /// Creates an engine, and prepares the store for the schema.
  ///
  /// - Parameters:
  ///   - schema: The types of the app.
  ///   - store: The store to keep in step.
  ///   - source: The remote to pull from.
  ///   - sink: The destination of local edits; without one they stay in the outbox.
  ///   - clock: Waits, measures and stamps; the machine's by default.
  ///   - options: Page sizes, concurrency, retries and guards.
  ///   - edits: How conflicts between local edits and the remote are resolved.
  ///   - connectivity: Reports whether the network is there; without one, requests are made and
  ///     retried.
  ///   - observers: Receive all events, besides ``events()``.
  ///   - random: Gives the jitter of pauses; the system's generator by default.
  /// - Throws: `invalidConfiguration` for options that are invalid, or not safe with the source,
  ///   for a merge policy of an undeclared type, and for a sink of another remote; what
  ///   ``LocalStore/register(_:)`` throws.
  public init(
    schema: SyncSchema, store: any LocalStore, source: any RemoteRecordSource,
    sink: (any RemoteRecordSink)? = nil,
    clock: any Clock<Duration> = ContinuousClock(), options: SyncOptions = SyncOptions(),
    edits: EditOptions = EditOptions(),
    connectivity: (any ConnectivityMonitor)? = nil, observers: [any SyncObserver] = [],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) async throws(SyncError) {
    try options.check(against: source.capabilities)
    try Self.check(sink, against: source)
    if let type = edits.policies.keys.filter({ schema[$0] == nil }).min() {
      throw SyncError(
        .invalidConfiguration, during: "setting up the sync",
        "A merge policy is for \(type), which is not declared.")
    }
    try await StoredDeclarations.noteRegistered(in: store, before: schema)
    try await store.register(schema)
    let schema = schema.synced(
      with: Entity.RemoteTraits(
        serverManagedFields: source.capabilities.serverManagedFields,
        keepsUnknownMembers: sink?.keepsUnknownMembers ?? false))
    let hub = EventHub(observers: observers)
    self.schema = schema
    self.hub = hub
    self.environment = RunEnvironment(
      schema: schema, store: store, source: source, sink: sink, options: options, edits: edits, clock: clock,
      connectivity: connectivity,
      priorities: PriorityBoard(), random: RandomBits(random), emit: { hub.emit($0) })
  }

  private static func check(
    _ sink: (any RemoteRecordSink)?, against source: any RemoteRecordSource
  ) throws(SyncError) {
    guard let sink else { return }
    let flaw: String? =
      if sink.identity != source.identity {
        "Edits would go to \(sink.identity), and be read back from \(source.identity)."
      } else if source.capabilities.versions == .perScan {
        "The source numbers its records by the scan, so the results of a push and of a scan could not be distinguished."
      } else {
        nil
      }
    if let flaw { throw SyncError(.invalidConfiguration, during: "setting up the sync", flaw) }
  }

  /// Pushes pending edits, then pulls what changed at the remote since the last sync.
  ///
  /// The first sync pulls everything. Rejected and postponed edits, and edits for which the remote
  /// has no room, stay in the outbox; the sync goes on, and ``SyncResult/pushed`` counts them. A
  /// stop is not a failure: the result has `wasCancelled` and holds what was done. A type whose own
  /// pass fails is listed in ``SyncResult/failures`` while the other types go on. One sync runs at
  /// a time, in this process and between processes; ``SyncRequest/ifBusy`` decides what a second
  /// call gets.
  ///
  /// - Parameters:
  ///   - request: The types, and how to sync them; by default everything that changed.
  ///   - token: Requests a stop, which takes effect between pages. Cancelling the task does the
  ///     same.
  /// - Throws: ``SyncError``. `offline` and `syncAlreadyInProgress`: nothing was done.
  ///   `invalidConfiguration` for an undeclared type, and for a push without a sink: nothing was
  ///   done. `remoteUnavailable`, `authentication` and the store's codes: the pages committed
  ///   before stay, and the next sync resumes there. `leaseLost`: another process resumes there.
  public func sync(
    _ request: SyncRequest = SyncRequest(), token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> SyncResult {
    try await sync(request, token: token, onBegin: {})
  }

  /// Syncs, and calls a closure when the sync begins, possibly after a wait.
  func sync(
    _ request: SyncRequest, token: (any CancellationToken)?, onBegin: () -> Void
  ) async throws(SyncError) -> SyncResult {
    let (environment, hub) = (environment, hub)
    let scope = try SyncScope(request, of: schema, canPush: environment.sink != nil)
    var measured = environment
    measured.meter = SyncMeter()
    let run = SyncRun(
      environment: measured, request: request, scope: scope, stop: StopSignal(token: token))
    return try await flight.run(
      scope, ifBusy: request.ifBusy, stop: run.stop, clock: environment.clock,
      raise: { environment.priorities.raise($0) }
    ) { (first) throws(SyncError) in
      onBegin()
      do throws(SyncError) {
        let result = try await run.perform(first: first)
        hub.emit(.finished(result))
        return result
      } catch {
        hub.emit(.failed(error, measured.meter.figures.result))
        throw error
      }
    }
  }

  /// Pushes pending edits without a pull.
  ///
  /// - Parameters:
  ///   - types: The types whose edits are sent; none for all.
  ///   - token: Requests a stop, as in ``sync(_:token:)``.
  /// - Throws: As ``sync(_:token:)``; `invalidConfiguration` without a sink.
  public func push(
    _ types: RecordType..., token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> SyncResult {
    try await sync(SyncRequest(types: types.isEmpty ? nil : types, direction: .push), token: token)
  }

  /// Lists types completely, ignoring their tokens, and removes records gone from the remote.
  ///
  /// - Parameters:
  ///   - types: The types; none for all.
  ///   - allowingMassDeletion: Whether removals may exceed the guard of
  ///     ``SyncOptions/massDeletionRecords``.
  ///   - token: Requests a stop, as in ``sync(_:token:)``.
  /// - Throws: As ``sync(_:token:)``.
  public func resync(
    _ types: RecordType..., allowingMassDeletion: Bool = false, token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> SyncResult {
    let types = types.isEmpty ? schema.entities.map(\.type) : types
    return try await sync(
      SyncRequest(types: types, fullPull: Set(types), allowsMassDeletion: allowingMassDeletion),
      token: token)
  }

  /// Puts types before all others in the running sync, from its next page on.
  ///
  /// Without a running sync, nothing happens. The types that they refer to go with them. Fetched
  /// pages of the other types are committed, and these types go on after the urgent ones.
  public func prioritize(_ types: [RecordType]) {
    environment.priorities.raise(types)
  }

  /// Streams the events from now on, for one consumer at its own pace.
  ///
  /// The newest 256 events are kept for a slow consumer; ``SyncEvent/lost(_:)`` gives the number of
  /// dropped ones.
  public func events() -> EventSequence {
    hub.subscribe()
  }

  /// Reads the records in the store, without network access.
  public var records: LocalRecords {
    let hub = hub
    return LocalRecords(
      store: environment.store, schema: schema, clock: environment.clock,
      subscribe: { hub.subscribe().subscription }, emit: { hub.emit($0) })
  }

  /// Edits the records in the store; the next sync pushes the edits.
  public var edits: LocalEdits {
    let hub = hub
    return LocalEdits(
      store: environment.store, schema: schema, environment.clock, environment.edits
    ) { hub.emit($0) }
  }

  /// Returns the status of each type, in the order in which types are synced.
  ///
  /// - Throws: The store's codes.
  /// - Complexity: O(*p*) in the pending edits, beside what the store's counts cost.
  public func status() async throws(SyncError) -> [TypeReport] {
    try await TypeReport.load(schema.entities, from: environment.store, at: environment.clock.timestamp)
  }

  /// Returns the store's knowledge of one record, shown or not.
  ///
  /// - Throws: The store's codes.
  public func explain(_ id: RecordID) async throws(SyncError) -> Explanation {
    try await Explanation.load(id, from: environment.store)
  }
}
