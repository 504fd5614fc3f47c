public import SyncModels
public import SyncPorts

/// Keeps a store in step with a remote, and the remote with the app's edits.
///
/// ```swift
/// let engine = try await SyncEngine(schema: schema, store: store, source: source)
/// let result = try await engine.sync()
/// ```
///
/// A sync pushes the edits that wait in the outbox, if there is a sink for them; then it pulls each type, page by page, after the types that it refers to, and merges every page in one transaction with the
/// checkpoint that the next one goes on from. It can be stopped, or die, at any moment, and the next sync goes on there. The engine starts no
/// task that outlives a call, and may be shared among tasks.
public final class SyncEngine: Sendable {
  /// The types that are synced.
  public let schema: SyncSchema
  let environment: RunEnvironment
  private let flight = SingleFlight()
  private let hub: EventHub

  /// Sets up syncing, and makes the store fit for the schema.
  ///
  /// - Parameters:
  ///   - sink: Where local edits go; without one they stay in the outbox.
  ///   - clock: Waits, measures and stamps; the machine's by default.
  ///   - edits: How local edits are settled that meet another one.
  ///   - connectivity: Who knows whether the network is there; without one, requests are made and tried again.
  ///   - observers: Who is told what happens, besides ``events()``.
  ///   - random: Draws the jitter of pauses; the system's random numbers by default.
  /// - Throws: `invalidConfiguration` for options that make no sense, or are not safe with the source, and for a sink that is another remote's; what ``LocalStore/register(_:)``
  ///   throws.
  public init(
    schema: SyncSchema, store: any LocalStore, source: any RemoteRecordSource,
    sink: (any RemoteRecordSink)? = nil,
    clock: any Clock<Duration> = ContinuousClock(), options: SyncOptions = SyncOptions(),
    edits: EditOptions = EditOptions(),
    connectivity: (any ConnectivityMonitor)? = nil, observers: [any SyncObserver] = [],
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) async throws(SyncError) {
    try options.check(against: source.capabilities)
    try Self.check(sink, against: source)
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
      priorities: PriorityBoard(), random: random, emit: { hub.emit($0) })
  }

  private static func check(
    _ sink: (any RemoteRecordSink)?, against source: any RemoteRecordSource
  ) throws(SyncError) {
    guard let sink else { return }
    let flaw: String? =
      if sink.identity != source.identity {
        "Edits would go to \(sink.identity), and be read back from \(source.identity)."
      } else if source.capabilities.versions == .perScan {
        "The source numbers its records by the scan, so what a push leads to could not be told from what a scan lists."
      } else {
        nil
      }
    if let flaw { throw SyncError(.invalidConfiguration, during: "setting up the sync", flaw) }
  }

  /// Pushes the edits that wait, then pulls what changed at the remote since the last sync, or everything at the first.
  ///
  /// What the remote has no room for, refuses or puts off stays in the outbox, and keeps nothing else from going on: ``SyncResult/pushed`` tells.
  /// Being stopped is not a failure: the result says `wasCancelled` and holds what was done. A type whose own pass fails is listed in
  /// ``SyncResult/failures`` while the other types go on. One sync runs at a time, in this process and between processes;
  /// ``SyncRequest/ifBusy`` says what a second call gets.
  ///
  /// - Parameters:
  ///   - request: Which types, and how; by default everything that changed.
  ///   - token: Somebody's wish to stop, honoured between pages; cancelling the task does the same.
  /// - Throws: ``SyncError``. `offline` and `syncAlreadyInProgress`: nothing was done. `remoteUnavailable`, `authentication` and
  ///   the store's codes: the pages committed before stay, and the next sync goes on from there. `leaseLost`: another
  ///   process goes on from there.
  public func sync(
    _ request: SyncRequest = SyncRequest(), token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> SyncResult {
    try await sync(request, token: token, onBegin: {})
  }

  /// Syncs, and says when it begins, which it may have to wait for.
  func sync(
    _ request: SyncRequest, token: (any CancellationToken)?, onBegin: () -> Void
  ) async throws(SyncError) -> SyncResult {
    let (environment, hub) = (environment, hub)
    let scope = try SyncScope(request, of: schema, canPush: environment.sink != nil)
    let run = SyncRun(
      environment: environment, request: request, scope: scope, stop: StopSignal(token: token))
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
        hub.emit(.failed(error))
        throw error
      }
    }
  }

  /// Pushes the edits that wait, and pulls nothing.
  ///
  /// - Parameter types: The types whose edits are sent; none for all.
  /// - Throws: As ``sync(_:token:)``; `invalidConfiguration` without a sink.
  public func push(
    _ types: RecordType..., token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> SyncResult {
    try await sync(SyncRequest(types: types.isEmpty ? nil : types, direction: .push), token: token)
  }

  /// Lists types completely, whatever their tokens say, and removes what the remote no longer has.
  ///
  /// - Parameters:
  ///   - types: The types; none for all.
  ///   - allowingMassDeletion: Whether removals may pass the guard of ``SyncOptions/massDeletionRecords``.
  /// - Throws: As ``sync(_:token:)``.
  public func resync(
    _ types: RecordType..., allowingMassDeletion: Bool = false, token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> SyncResult {
    let types = types.isEmpty ? schema.entities.map(\.type) : types
    return try await sync(
      SyncRequest(types: types, fullPull: Set(types), allowsMassDeletion: allowingMassDeletion),
      token: token)
  }

  /// Puts types before all others in the sync under way, from its next page on; without one, nothing happens.
  ///
  /// They go with the types that they refer to. What the others have fetched is committed, and they go on when these are through.
  public func prioritize(_ types: [RecordType]) {
    environment.priorities.raise(types)
  }

  /// What happens from now on, for one consumer at its own pace.
  ///
  /// The newest 256 events are kept for a slow consumer; ``SyncEvent/lost(_:)`` says how many were dropped.
  public func events() -> EventSequence {
    hub.subscribe()
  }

  /// The records in the store; reading never touches the network.
  public var records: LocalRecords {
    let hub = hub
    return LocalRecords(store: environment.store, schema: schema) { hub.emit($0) }
  }

  /// Edits the records in the store; the next sync tells the remote.
  public var edits: LocalEdits {
    let hub = hub
    return LocalEdits(
      store: environment.store, schema: schema, environment.clock, environment.edits
    ) { hub.emit($0) }
  }

  /// How the syncs of each type have gone, in the order in which types are synced.
  public func status() async throws(SyncError) -> [TypeReport] {
    try await TypeReport.load(schema.entities, from: environment.store, at: environment.clock.timestamp)
  }

  /// What the store knows of one record, shown or not.
  public func explain(_ id: RecordID) async throws(SyncError) -> Explanation {
    try await Explanation.load(id, from: environment.store)
  }
}
