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
  ///   - upgrades: Convert records that older versions of the app wrote.
  ///   - account: Names whose records the store holds, such as an id of the user. A store that holds
  ///     those of another account is refused; without a name, nothing is asked.
  ///   - connectivity: Reports whether the network is there; without one, requests are made and
  ///     retried.
  ///   - observers: Receive all events, besides ``events()``.
  ///   - random: Gives the jitter of pauses; the system's generator by default.
  /// - Throws: `invalidConfiguration` for options that are invalid, or not safe with the source,
  ///   for a merge policy of an undeclared type, and for a sink of another remote; `otherAccount` for
  ///   a store of another account; what ``LocalStore/register(_:)`` throws.
  public init(
    schema: SyncSchema, store: any LocalStore, source: any RemoteRecordSource,
    sink: (any RemoteRecordSink)? = nil,
    clock: any Clock<Duration> = ContinuousClock(), options: SyncOptions = SyncOptions(),
    edits: EditOptions = EditOptions(), upgrades: [ModelUpgrade] = [], account: String? = nil,
    connectivity: (any ConnectivityMonitor)? = nil, observers: [any SyncObserver] = [],
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) async throws(SyncError) {
    try options.check(against: source.capabilities)
    for entity in schema.entities { try options.check(against: source.capabilities(of: entity.type)) }
    try Self.check(sink, against: source, schema)
    if let type = edits.policies.keys.filter({ schema[$0] == nil }).min() {
      throw SyncError(
        .invalidConfiguration, during: "setting up the sync",
        "A merge policy is for \(type), which is not declared.")
    }
    let upgrades = try ModelUpgrades(upgrades, of: schema)
    try await StoreAccount.claim(account, in: store)
    let schema = schema.synced(with: source, sink)
    let position = try await StoredDeclarations.register(
      schema, with: store, at: clock.timestamp, maximumClockSkew: edits.maximumClockSkew)
    try Self.check(schema)
    let hub = EventHub(observers: observers)
    self.schema = schema
    self.hub = hub
    self.environment = RunEnvironment(
      schema: schema, store: store, source: source, sink: sink, options: options, edits: edits, clock: clock,
      account: account, connectivity: connectivity,
      priorities: PriorityBoard(), commits: CommitPoll(store, clock: clock, from: position),
      singleReads: CoalescedReads(store), random: RandomBits(random),
      emit: { hub.emit($0) }, upgrades: upgrades)
  }

  private static func check(_ schema: SyncSchema) throws(SyncError) {
    for entity in schema.entities {
      guard let field = entity.immutable.first(where: entity.remote.serverManagedFields.contains) else {
        continue
      }
      throw SyncError(
        .invalidConfiguration, during: "setting up the sync",
        "\(entity.type).\(field) is declared as immutable, and the remote writes it itself. Leave out one.")
    }
  }

  private static func check(
    _ sink: (any RemoteRecordSink)?, against source: any RemoteRecordSource, _ schema: SyncSchema
  ) throws(SyncError) {
    guard let sink else { return }
    let flaw: String? =
      if sink.identity != source.identity {
        "Edits would go to \(sink.identity), and be read back from \(source.identity)."
      } else if schema.entities.contains(where: { source.capabilities(of: $0.type).versions == .perScan }) {
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
  ///   `declarationsReplaced`: another version of the app has registered other declarations; a new
  ///   engine resumes there.
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
    if RunEnvironment.awaiting == ObjectIdentifier(environment.priorities), request.ifBusy != .refuse {
      throw SyncError(
        .syncAlreadyInProgress, during: "starting a sync",
        "A sync of this engine waits for the closure that asks for another one, so neither would end.")
    }
    if let account = environment.account {
      try await environment.store.read { (snapshot) throws(SyncError) in
        try StoreAccount.demand(account, in: snapshot)
      }
    }
    let scope = try SyncScope(
      request, of: schema, canPush: environment.sink != nil, filters: environment.filters.revision)
    var measured = environment
    measured.meter = SyncMeter()
    let run = SyncRun(
      environment: measured, request: request, scope: scope, stop: StopSignal(token: token))
    return try await flight.run(
      scope, ifBusy: request.ifBusy, stop: run.stop, clock: environment.clock,
      raise: { environment.priorities.raise($0) }
    ) { (first) throws(SyncError) in
      onBegin()
      var run = run
      // Those of now: a call that had to wait must not go back to earlier ones.
      run.environment.filters = environment.filters.frozen
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
      schema: schema, environment.commits, environment.singleReads,
      subscribe: { hub.subscribe().subscription }, emit: { hub.emit($0) })
  }

  /// Edits the records in the store; the next sync pushes the edits.
  public var edits: LocalEdits {
    let hub = hub
    return LocalEdits(
      store: environment.store, schema: schema, environment.clock, environment.edits,
      account: environment.account, LocalEdits.Remote(environment.sink), environment.commits,
      subscribe: { hub.subscribe().subscription }
    ) { hub.emit($0) }
  }

  /// Returns the status of each type that is synced, in the order of the sync.
  ///
  /// - Throws: The store's codes.
  /// - Complexity: O(*p*) in the pending edits, beside what the store's counts cost.
  public func status() async throws(SyncError) -> [TypeStatus] {
    try await TypeStatus.load(
      schema.entities.filter { $0.access != .local }, from: environment.store, at: environment.clock.timestamp
    )
  }

  /// Returns the store's knowledge of one record, shown or not.
  ///
  /// - Throws: The store's codes.
  public func explain(_ id: RecordID) async throws(SyncError) -> Explanation {
    try await Explanation.load(id, from: environment.store)
  }
}

extension SyncEngine {
  /// Streams the records that change for readers from now on, for one consumer.
  ///
  /// An app uses it to refresh what it shows. Each element holds the changes of one transaction,
  /// after its commit. A consumer that is too slow for each of them receives
  /// ``ChangedRecords/everything``, and should reload everything.
  ///
  /// If the store is a ``SharedStore``, changes of other connections and processes come as well,
  /// within 250 ms, or half a second on a standby of PostgreSQL, while an element is being waited for.
  /// The first element then has all that was committed since this call. An element may repeat changes,
  /// the first one also some from before the call.
  ///
  /// To miss nothing, call this first, then load, then iterate.
  /// ``LocalRecords/observe(_:where:order:limit:)`` does all of this for one query.
  public func changes() -> some AsyncSequence<ChangedRecords, Never> & Sendable {
    let start = environment.commits.position
    return ChangeSequence(
      watch: CommitWatch(poll: environment.commits, events: events().subscription), start: start)
  }
}

extension SyncEngine {
  /// Hides old records, and removes old conflicts and ended values, by a policy.
  ///
  /// Only values that are members of records are removed by an edit, which is pushed to the remote;
  /// see ``ExpiringMember``.
  ///
  /// A hidden record is not shown and counts as absent. The remote still has it, as hiding is
  /// local. The record is shown again once the remote changes it, a record that refers to it
  /// arrives, or the app edits it. A listing that holds it unchanged does not show it again. Three
  /// kinds of records are spared: records with pending edits, records that others refer to, and
  /// records with a withheld change. ``status()`` counts the hidden records.
  ///
  /// A policy defines all that is hidden. A record that an earlier clean-up hid and no rule of this
  /// one hides is shown again first; the rule may have changed or been removed, or the clock may
  /// have been ahead. Two policies in turn would undo each other, so combine them into one.
  ///
  /// - Parameters:
  ///   - policy: What is hidden, and what is removed.
  ///   - token: Requests a stop, which takes effect between transactions. Cancelling the task does
  ///     the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared, and for a rule's condition with a
  ///   comparison that has no sound result; `declarationsReplaced` where another version of the app has
  ///   registered other declarations; `syncAlreadyInProgress` while a sync runs; the store's codes.
  ///   Earlier commits stay.
  /// - Complexity: O(*h*) in the hidden records, and in all sightings and expiring values; O(*m*)
  ///   in the type's records for an age by modification, otherwise as the rule's query. For a
  ///   member that ends by itself, every payload of its type is parsed.
  @discardableResult
  public func cleanUp(
    _ policy: CleanupPolicy, token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> CleanupReport {
    for type in policy.rules.map(\.type) + policy.expiring.map(\.type) {
      _ = try schema.entity(type, during: "cleaning up")
    }
    let now = environment.clock.timestamp
    if let flaw = policy.rules.lazy.compactMap({ $0.condition(at: now)?.flaw }).first {
      throw SyncError(.invalidConfiguration, during: "cleaning up", flaw)
    }
    guard policy.recordsAtOnce > 0 else {
      throw SyncError(
        .invalidConfiguration, during: "cleaning up", "A transaction takes up 1 record or more.")
    }
    return try await CleanupRun(
      environment: environment, edits: edits, policy: policy, stop: StopSignal(token: token)
    ).perform()
  }
}

extension SyncEngine {
  /// Migrates legacy settings to records, once.
  ///
  /// Records that the store lacks are inserted, through the outbox. Settings of existing records
  /// are merged into them. The settings are read once and stay unchanged. The migration's last
  /// transaction marks it as done in the store. An interrupted migration resumes where it stopped,
  /// and a completed one reads nothing. Settings that cannot become a record are reported and
  /// skipped, such as values that are not JSON or that refer to a record that is not in the store.
  ///
  /// - Parameters:
  ///   - settings: The settings of the earlier version.
  ///   - migration: How they become records.
  ///   - token: Requests a stop, which takes effect between transactions. Cancelling the task does
  ///     the same.
  /// - Throws: `invalidConfiguration` for a type that is not declared; what the settings throw; the
  ///   store's codes. Earlier commits stay.
  /// - Complexity: O(*n*) in the settings, which are held in memory.
  @discardableResult
  public func migrate(
    _ settings: any LegacySettings, by migration: LegacyMigration, token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> MigrationReport {
    let entity = try schema.entity(migration.type, during: "migrating \(migration.name)")
    guard migration.recordsAtOnce > 0 else {
      throw SyncError(
        .invalidConfiguration, during: "migrating \(migration.name)",
        "A transaction takes up 1 record or more.")
    }
    return try await MigrationRun(
      edits: edits, store: environment.store, settings: settings, migration: migration, entity: entity,
      stop: StopSignal(token: token)
    ).perform()
  }
}

extension SyncEngine {
  /// Collapses records that share a natural key to one, once for each rebuild version.
  ///
  /// The record that was written last wins. The time of its last write is that of its pending edit,
  /// otherwise of its stamp field, otherwise the remote's modification time. Of simultaneous
  /// writes, the record with the first id wins. A stamp that is later than the remote's
  /// modification time by more than ``EditOptions/maximumClockSkew`` is not trusted, and that time
  /// is used instead. The winner stays in place. References to the losers are re-pointed to it, and
  /// the losers are deleted. If the remote has them, this goes through the outbox, so that the
  /// remote receives exactly these deletions, after the edits. A record without a natural key has
  /// no duplicates.
  ///
  /// Groups are processed in batches of one transaction each. An interrupted rebuild resumes where
  /// it stopped. Once it is complete, the same and earlier versions do nothing. Duplicates that a
  /// sync brings, or that the app's own edits create, collapse in the same way at the end of the
  /// next sync.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - version: The number of the rebuild in the app's history, greater than those of earlier
  ///     rebuilds.
  ///   - options: The size of the batches, and how a winner takes values over.
  ///   - dryRun: Whether to report what would be done, and do nothing. If records of the type refer
  ///     to each other, references among losers of different batches are counted too.
  ///   - token: Requests a stop, which takes effect between batches. Cancelling the task does the
  ///     same.
  /// - Throws: `invalidConfiguration` for a type that is not declared or has no natural key;
  ///   `declarationsReplaced` where another version of the app has registered other declarations;
  ///   `pullIncomplete` before the type, and those that refer to it, have been pulled completely;
  ///   `syncAlreadyInProgress` while a sync runs; the store's codes. Earlier commits stay.
  /// - Complexity: O(*m*) in the type's records, of which those with duplicates are read. Memory
  ///   grows with the batch, with the greatest group, and with the keys of up to 262,144 groups.
  @discardableResult
  public func rebuildDuplicates(
    of type: RecordType, version: Int, options: RebuildOptions = RebuildOptions(), dryRun: Bool = false,
    token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> RebuildReport {
    let entity = try schema.entity(type, during: "collapsing duplicates of \(type)")
    guard entity.naturalKey != nil else {
      throw SyncError(
        .invalidConfiguration, during: "collapsing duplicates of \(type)",
        "The record type has no natural key.")
    }
    try options.check()
    return try await RebuildRun(
      environment: environment, entity: entity, version: version, options: options, isDryRun: dryRun,
      stop: StopSignal(token: token)
    ).perform()
  }
}

extension SyncSchema {
  /// The same types, with the traits of a remote.
  func synced(with source: any RemoteRecordSource, _ sink: (any RemoteRecordSink)?) -> SyncSchema {
    synced { type in
      let capabilities = source.capabilities(of: type)
      return Entity.RemoteTraits(
        versions: capabilities.versions, serverManagedFields: capabilities.serverManagedFields,
        keepsUnknownMembers: sink?.keepsUnknownMembers ?? false, takesEdits: sink != nil)
    }
  }
}
