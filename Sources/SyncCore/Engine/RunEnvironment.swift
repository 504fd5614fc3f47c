import SyncModels
import SyncPorts

/// Everything a sync works with, except its own state.
struct RunEnvironment: Sendable {
  var schema: SyncSchema
  var store: any LocalStore
  var source: any RemoteRecordSource
  /// The destination of local edits; without one they stay in the outbox.
  var sink: (any RemoteRecordSink)?
  var options: SyncOptions
  var edits: EditOptions
  var clock: any Clock<Duration>
  /// The account whose store this is; `nil` for any.
  var account: String?
  var connectivity: (any ConnectivityMonitor)?
  var priorities: PriorityBoard
  /// Hears of others' commits, for all who observe the store by this engine.
  var commits: CommitPoll
  /// Reads single records for all who do so by this engine.
  var singleReads: CoalescedReads
  /// The attempts of this engine, observed by ``SyncCoordinator``.
  var attempts = ValueFeed(Attempts())
  /// The jitter of pauses.
  var random: RandomBits
  var emit: @Sendable (SyncEvent) -> Void
  /// What converts records of older versions.
  var upgrades = ModelUpgrades()
  /// What the app wants of each type.
  var filters = RecordFilters()
  /// Measures the sync.
  var meter = SyncMeter()

  /// The engine whose sync waits for a closure of the app, which is this task's.
  @TaskLocal static var awaiting: ObjectIdentifier?

  /// Returns the context of a merge of withheld changes, without a page.
  ///
  /// - Parameters:
  ///   - markPass: The complete listing whose records are marked, from the type's checkpoint.
  ///   - now: The time of a step that has read the clock already.
  func releaseContext(fence: Int64, markPass: Int64? = nil, at now: Timestamp? = nil) -> MergeContext {
    MergeContext(
      schema: schema, edits: edits, finder: .sync(fence: fence), now: now ?? clock.timestamp,
      markPass: markPass)
  }

  /// Returns the scope of a type's checkpoints.
  func scope(of entity: Entity, store identity: String) -> Checkpoint.Scope {
    Checkpoint.Scope(
      source: source.identity, query: query(for: entity.type), schemaVersion: entity.schemaVersion,
      store: identity)
  }

  /// Fetches a page, or fails at once if the network is known to be away.
  ///
  /// - Parameter epoch: The epoch of the page's versions.
  func fetch(_ request: PageRequest, epoch: Int64) async -> Result<RecordPage, SyncError> {
    if let offline { return .failure(offline) }
    let elapsed = clock.stopwatch()
    let result = await AskingStore.$keys.withValue(ParentKeys(store: store)) {
      await page(request, epoch: epoch)
    }
    var bytes = 0
    // By place: a change that is handed on is a copy.
    if case .success(let page) = result {
      for place in page.changes.indices { bytes += page.changes[place].payloadSize }
    }
    meter.update { figures in
      figures.fetching += elapsed()
      figures.bytes += bytes
    }
    return result
  }

  private func page(_ request: PageRequest, epoch: Int64) async -> Result<RecordPage, SyncError> {
    await Result(of: { () throws(SyncError) in
      var page = try await withContents(source.page(request), of: request.entity, epoch: epoch)
      page.changes = page.changes.named
      if upgrades.concern(request.entity.type) {
        page.changes = page.changes.map { upgrades.arriving($0, request.entity, emit) }
      }
      return try await selected(page, of: request.entity)
    })
  }

  /// Waits before another attempt at a request that has failed.
  ///
  /// - Parameter type: The type that the request is about, for the event.
  /// - Returns: Whether to make the attempt; `false` if the wait was cut short.
  /// - Throws: The error, if there is no other attempt.
  func waitToRetry(
    after error: SyncError, failures: Int, of type: RecordType?
  ) async throws(SyncError) -> Bool {
    guard
      let pause = options.retry.pause(afterFailures: failures, error: error, random: random.next())
    else { throw error }
    if let type { emit(.retrying(type, attempt: failures + 1, after: pause, error: error)) }
    return (try? await clock.pause(for: pause, as: .retry)) != nil
  }

  /// Makes a request, or fails at once if the network is known to be away.
  func request<R: Sendable>(_ body: () async throws(SyncError) -> R) async -> Result<R, SyncError> {
    if let offline { return .failure(offline) }
    return await Result(of: body)
  }

  /// Emits the events of a transaction that a person may want to look into.
  func emitFindings(_ tally: Tally) {
    for malformed in tally.malformed { emit(.quarantined(malformed)) }
    for (id, ahead) in tally.clocksAhead { emit(.clockAhead(id, by: ahead)) }
    for (id, reason) in tally.policyFlaws { emit(.policyFailed(id, reason: reason)) }
    for id in tally.assigned { emit(.immutableAssigned(id)) }
    for (id, reason) in tally.refusals { emit(.editRefused(id, reason: reason)) }
    for conflict in tally.conflicts {
      emit(.conflict(conflict, isSignificant: edits.isSignificant(conflict)))
    }
  }

  /// Emits the changes of a transaction without a page, if there are any.
  func emitChanges(_ tally: Tally, of type: RecordType) {
    emitFindings(tally)
    guard !tally.changed.isEmpty else { return }
    emit(
      .pageCommitted(
        SyncEvent.PageReport(
          type: type, counts: tally.counts[type, default: SyncCounts()], changed: tally.changed, fetched: 0,
          total: nil)))
  }

  /// The error of a network that is known to be away; `nil` otherwise.
  var offline: SyncError? {
    guard connectivity?.connectivity == .offline else { return nil }
    return SyncError(
      .offline, during: "reaching \(source.identity)", "There is no network. Local data stay in use.")
  }
}

extension Int {
  /// The next number, or the same at the end of the range.
  ///
  /// The number was stored, and may have any value.
  var addingOne: Int { self == .max ? self : self + 1 }
}

/// The last begin and end of a pull of all types in this process.
///
/// It counts whether the app or a coordinator asked for the pull.
struct Attempts: Hashable, Sendable {
  var lastBegin: Timestamp?
  var lastSuccess: Timestamp?
}

/// The live records of a store, for a source whose lists are under records of another type.
private struct ParentKeys: StoredKeys {
  let store: any LocalStore

  func key(of type: RecordType, after key: String?) async throws(SyncError) -> String? {
    // Mostly the first record after the key is it.
    let query = Query(type, afterKey: key, limit: 1)
    return try await store.read { (snapshot) throws(SyncError) in
      var portions = snapshot.portions(of: query)
      while let record = try portions.next()?.first {
        // A record that the remote has deleted waits until nothing refers to it.
        let kind = try snapshot.withheld(for: [.record(record.id)]).first?.kind
        if kind != .held, kind != .missing { return record.id.key }
      }
      return nil
    }
  }

  func records(
    of type: RecordType, where field: FieldName, is key: String
  ) async throws(SyncError) -> [PresentRecord] {
    let query = Query(type, where: .equal(field, .string(key)))
    return try await store.read { (snapshot) throws(SyncError) in
      var found: [PresentRecord] = []
      var portions = snapshot.portions(of: query)
      while let records = try portions.next() {
        // The remote does not list yet what was only made here.
        found += records.lazy.filter { $0.version != .unversioned }
          .map { PresentRecord(id: $0.id, version: $0.version) }
      }
      return found
    }
  }

  func changes(
    of parents: RecordType, above type: RecordType, after position: Int64?
  ) async throws(SyncError) -> ParentChanges {
    try await store.read { (snapshot) throws(SyncError) in
      let leaving = try snapshot.withheldCounts(parents)
      var changes = ParentChanges(
        keys: nil, isAnyLeaving: leaving[.held, default: 0] + leaving[.missing, default: 0] > 0,
        position: try snapshot.changes(after: nil).position.number)
      // What is withheld is not live, and only its list can tell that it is still there.
      let withheld = try snapshot.withheldCounts(type)
      guard let position, position <= changes.position,
        Sweep.forgettable.allSatisfy({ withheld[$0, default: 0] == 0 }),
        case .records(let ids) = try snapshot.changes(after: StorePosition(position)).scope
      else { return changes }
      changes.keys = Set(ids.lazy.filter { $0.type == parents }.map(\.key))
      return changes
    }
  }
}
