import SyncJSON
public import SyncModels
public import SyncPorts
import Synchronization

/// The remote as a sink for pushed edits.
///
/// A change is applied only to the state that it was made on. The entity tag of its base identifies
/// this state, or else the version. A base of `none` requires that nothing exists, not even a
/// deletion, as far as the remote reports deletions. Scripts define refusals, quotas and failures.
/// The ledger has the received edits and their outcomes.
extension InMemoryRemote: RemoteRecordSink {
  /// True: payloads are kept as they are sent.
  public var keepsUnknownMembers: Bool { true }

  /// The limits of the configuration. Actual limits may differ, see
  /// ``Configuration/acceptedAtOnce``.
  public func limits() async throws(SyncError) -> SinkLimits {
    configuration.pushLimits
  }

  /// Applies each change separately, in order, unless the script differs.
  ///
  /// - Throws: `batchTooLarge` for more than ``Configuration/acceptedAtOnce``; the script's errors;
  ///   `cancelled`.
  public func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    try await push(changes, entities, isGroup: false)
  }

  /// As the configuration says; see ``Configuration/appliesGroups``.
  public var appliesGroups: Bool { configuration.appliesGroups }

  /// Applies all of the changes or none. An answer that the script loses before the last change's
  /// effect means none.
  ///
  /// - Throws: As ``push(_:entities:)``.
  public func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    try await push(changes, entities, isGroup: true)
  }

  private func push(
    _ changes: [OutgoingChange], _ entities: SyncSchema, isGroup: Bool
  ) async throws(SyncError) -> [PushOutcome] {
    let (behaviours, hook) = state.withLock { state in
      (state.pushes.receive(changes), state.onPush)
    }
    await hook?(changes)
    try await spendLatency(during: Self.pushing)
    var applied = changes.count
    for behaviour in behaviours {
      switch behaviour {
      case .fail(let error): throw error
      case .hang: try await hang(during: Self.pushing)
      case .loseAnswer(let count, _): applied = min(applied, max(0, count))
      case .hangAfterEffect: break
      }
    }
    try checkSize(of: changes)
    let time = configuration.rounded(clock.timestamp)
    if isGroup, applied < changes.count { applied = 0 }
    let part = changes[..<applied]
    let outcomes = state.withLock { state in
      var draft = state
      let outcomes = part.map { change in
        let outcome = apply(change, entities[change.id.type], at: time, &draft)
        draft.pushes.keep(outcome, of: change)
        return outcome
      }
      if isGroup, !outcomes.allSatisfy(\.isApplied) {
        return outcomes.map { $0.isApplied ? PushOutcome.notApplied : $0 }
      }
      state = draft
      return outcomes
    }
    for behaviour in behaviours {
      switch behaviour {
      case .loseAnswer(_, let error): throw error
      case .hangAfterEffect: try await hang(during: Self.pushing)
      case .fail, .hang: break
      }
    }
    return outcomes
  }

  /// Receives each batch after it was counted and before it has an effect.
  ///
  /// A test delays the batch here, or acts in between.
  public var onPush: (@Sendable ([OutgoingChange]) async -> Void)? {
    get { state.withLock { $0.onPush } }
    set { state.withLock { $0.onPush = newValue } }
  }

  /// The remote state of a record, deletions included.
  ///
  /// It is the answer of a sink without further information.
  package func present(_ id: RecordID, of entity: Entity) -> RecordChange? {
    state.withLock { $0.collections[id.type]?.byKey[UTF8Key(id.key)]?.change(for: entity) }
  }

  private static let pushing = "pushing edits"

  private func checkSize(of changes: [OutgoingChange]) throws(SyncError) {
    let most = configuration.acceptedAtOnce ?? configuration.pushLimits
    let bytes = changes.reduce(0) { $0 + ($1.content.payload?.bytes.count ?? 0) }
    guard changes.count > most.maximumRecords || bytes > most.maximumBytes else { return }
    throw SyncError(
      .batchTooLarge, during: Self.pushing,
      "The remote does not take \(Counted(changes.count, "change")) of \(Counted(bytes, "byte")) at once.")
  }

  private func apply(
    _ change: OutgoingChange, _ entity: Entity?, at time: Timestamp, _ state: inout State
  ) -> PushOutcome {
    let type = change.id.type
    guard let entity else { return .refused(reason: "The type \(type) is not declared.") }
    if configuration.remembersKeys, let outcome = state.pushes.answer(to: change) { return outcome }
    switch state.pushes.rulings[change.id] {
    case .refused(let reason): return .refused(reason: reason)
    case .retryLater(let pause): return .retryLater(after: pause)
    case nil: break
    }
    let current = state.collections[type]?.byKey[UTF8Key(change.id.key)]
    let isKnown = change.isBundled && current?.isDeleted == false
    if configuration.assignsKeys, change.base.record == nil, change.content != .deletion, !isKnown {
      if change.mayHaveArrived, !configuration.remembersKeys { return .unknown(reason: Self.mayBeMade) }
      if isFull(state) { return .quotaExceeded }
      return create(change, entity, at: time, &state)
    }
    guard isCurrent(change.base, current) else { return .conflict(current?.change(for: entity)) }
    let body: RemoteDocument.Body
    switch change.content {
    case .deletion:
      if let current, current.isDeleted { return .accepted(current.change(for: entity)) }
      body = .deleted(configuration.keepsDeletionStamps ? change.stamp : nil)
    case .upsert(let payload, _):
      if current?.isDeleted ?? true, isFull(state) { return .quotaExceeded }
      body = .record(payload.detached())
    }
    let draft = RemoteDocument(key: change.id.key, body: body, version: Version(modifiedAt: time))
    if case .malformed(let malformed) = draft.change(for: entity) {
      return .refused(reason: "The payload \(malformed.reason).")
    }
    let written = state.collections[type, default: RemoteCollection(configuration)]
      .commit(key: change.id.key, body: body, modifiedAt: time)
    state.pushes.note(change, leadingTo: written.version)
    return .accepted(written.change(for: entity))
  }

  /// Why a creation is not repeated whose answer was lost.
  package static let mayBeMade = "The answer was lost, and the remote may have made the record."

  /// Whether the remote has no room for one more record.
  package var isFull: Bool { state.withLock { isFull($0) } }

  private func isFull(_ state: State) -> Bool {
    guard let quota = state.pushes.recordQuota else { return false }
    return state.collections.values.reduce(0) { $0 + $1.liveCount } >= quota
  }

  /// Makes a record under the next whole number that is free.
  private func create(
    _ change: OutgoingChange, _ entity: Entity, at time: Timestamp, _ state: inout State
  ) -> PushOutcome {
    var collection = state.collections[change.id.type, default: RemoteCollection(configuration)]
    guard let payload = change.content.payload, var members = try? FieldMap(payload) else {
      return .refused(reason: "The payload is not one JSON object.")
    }
    var number = collection.sequence + 1
    while collection.byKey[UTF8Key("\(number)")] != nil { number += 1 }
    let own = JSONString.quoted(change.id.key)[...]
    let new = JSONString.quoted("\(number)")[...]
    // A record of another type may have the same key.
    let foreign = Set(entity.references.filter { $0.target != entity.type }.map(\.field))
    for name in members.fields where members[name] == own && !foreign.contains(name) { members[name] = new }
    let draft = RemoteDocument(
      key: "\(number)", body: .record(members.payload), version: Version(modifiedAt: time))
    if case .malformed(let malformed) = draft.change(for: entity) {
      return .refused(reason: "The payload \(malformed.reason).")
    }
    let written = collection.commit(key: draft.key, body: draft.body, modifiedAt: time)
    state.collections[change.id.type] = collection
    state.pushes.note(change, leadingTo: written.version)
    switch written.change(for: entity) {
    case .upsert(let record): return .moved(record)
    case .malformed(let malformed): return .refused(reason: "The payload \(malformed.reason).")
    case .tombstone: return .conflict(nil)
    }
  }

  /// Whether a record is still in the state that a change was made on.
  private func isCurrent(_ base: OutboxEntry.Base, _ current: RemoteDocument?) -> Bool {
    guard let current else { return base.record == nil }
    switch base {
    case .none:
      return current.isDeleted && !configuration.sendsTombstones
    case .copy(let record):
      return !current.isDeleted && current.isState(tag: record.entityTag, version: record.version)
    case .deleted(let tombstone):
      guard current.isDeleted else { return false }
      return !configuration.sendsTombstones
        || current.isState(tag: tombstone.entityTag, version: tombstone.version)
    }
  }
}
