public import SyncModels
public import SyncPorts

/// Edits the records in a store, visible to readers at once and pushed later.
///
/// An edit waits in the outbox until a sync pushes it. Each call is one transaction, which needs no
/// network and no lease. After the call returns, the edit survives a power failure. If the call
/// throws, nothing was written.
///
/// ```swift
/// try await engine.edits.upsert(meter)  // Identifiable by its key
/// ```
public struct LocalEdits: Sendable {
  let store: any LocalStore
  let schema: SyncSchema
  private let clock: any Clock<Duration>
  private let options: EditOptions
  private let account: String?
  private let remote: Remote
  private let poll: CommitPoll
  private let subscribe: (@Sendable () -> EventSequence.Subscription)?
  let emit: @Sendable (SyncEvent) -> Void

  /// Creates an editor of a store with the types of a schema.
  ///
  /// - Parameters:
  ///   - store: The store with the records.
  ///   - schema: The types of the app.
  ///   - clock: Stamps edits, as far as it can be trusted. Each stamp is later than the one before,
  ///     whatever the clock does (Kulkarni et al., *Logical Physical Clocks*, 2014).
  ///   - options: The policies, and how far clocks are trusted.
  ///   - sink: The destination of the edits, which perhaps another process pushes. It decides
  ///     whether stamps travel with records; see ``Stamping/automatic``. Without a sink they do
  ///     not.
  ///   - serverManagedFields: The members that the remote writes itself, as in
  ///     ``SourceCapabilities/serverManagedFields``.
  ///   - emit: Receives the events.
  public init(
    store: any LocalStore, schema: SyncSchema, clock: any Clock<Duration> = ContinuousClock(),
    options: EditOptions = EditOptions(), sink: (any RemoteRecordSink)? = nil,
    serverManagedFields: [FieldName] = [],
    emit: @escaping @Sendable (SyncEvent) -> Void = { _ in }
  ) {
    self.init(
      store: store,
      schema: schema.synced(
        with: Entity.RemoteTraits(
          serverManagedFields: serverManagedFields, keepsUnknownMembers: sink?.keepsUnknownMembers ?? false,
          takesEdits: sink != nil)),
      clock, options, account: nil, Remote(sink), CommitPoll(store, clock: clock), subscribe: nil, emit)
  }

  /// What the remote does with edits that belong together.
  struct Remote: Sendable {
    /// The name of the remote; `nil` if there is none.
    let identity: String?
    let appliesGroups: Bool

    init(_ sink: (any RemoteRecordSink)?) {
      identity = sink?.identity
      appliesGroups = sink?.appliesGroups ?? false
    }
  }

  /// Creates an editor for a schema that knows the remote.
  init(
    store: any LocalStore, schema: SyncSchema, _ clock: any Clock<Duration>, _ options: EditOptions,
    account: String?, _ remote: Remote, _ poll: CommitPoll,
    subscribe: (@Sendable () -> EventSequence.Subscription)?,
    _ emit: @escaping @Sendable (SyncEvent) -> Void
  ) {
    self.store = store
    self.schema = schema
    self.clock = clock
    self.options = options
    self.account = account
    self.remote = remote
    self.poll = poll
    self.subscribe = subscribe
    self.emit = emit
  }

  /// Begins to hear of commits.
  func watch() -> CommitWatch { CommitWatch(poll: poll, events: subscribe?()) }

  /// Updates a record to a value, or inserts it.
  ///
  /// The value is the whole of what its type knows: each of its members is written that the stored
  /// record lacks or has otherwise. To write back a value that was read, hand over the ``Stored``,
  /// so that what changed meanwhile is not undone; see ``upsert(_:ifUnchanged:)``.
  ///
  /// Members of the stored record that the value's type does not know stay. Members that are equal
  /// keep their spelling. An optional that is `nil` removes its member.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not declared; `invalidEdit` for a value
  ///   whose `id` is another key (see ``RecordCoding/key``), that refers to a record that is not in
  ///   the store, or that JSON cannot represent; the store's codes.
  public func upsert<T: SyncedRecord & Encodable>(_ value: T, key: String) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in try batch.upsert(value, key: key) }
  }

  /// Updates or inserts the record of the value's own key; see ``upsert(_:key:)``.
  ///
  /// A record whose key spells the `id` otherwise, such as a UUID in the other case, is updated.
  public func upsert<T: SyncedRecord & Encodable & Identifiable>(
    _ value: T
  ) async throws(SyncError) where T.ID: RecordKey {
    try await perform { (batch) throws(SyncError) in try batch.upsert(value) }
  }

  /// Writes what the app has changed of a record that was read.
  ///
  /// The record may have changed since, here or by a sync. Members that the app did not change stay
  /// as they are now. If a member that the app has changed has another value than the one that was
  /// read, the type's policy decides, as if the stored record were the remote's. That is an event
  /// and an entry in the log of conflicts. A record that was deleted meanwhile is written whole if
  /// the policy prefers the local side.
  ///
  /// A form may be saved again and again: what a save has written counts as read by the next one of the
  /// same ``Stored``, and of those that are changed copies of it.
  ///
  /// - Parameters:
  ///   - record: A record that was read, with changes. One that the app made itself is written as by
  ///     ``upsert(_:key:)``.
  ///   - ifUnchanged: Whether the record has to be as it was read.
  /// - Throws: `changedMeanwhile` if it has to be and is not; otherwise as ``upsert(_:key:)``.
  public func upsert<T: SyncedRecord & Encodable>(
    _ record: Stored<T>, ifUnchanged: Bool = false
  ) async throws(SyncError) {
    // The app may change its copy while this one is being saved.
    record.saves?.begin()
    try await perform { (batch) throws(SyncError) in try batch.upsert(record, ifUnchanged: ifUnchanged) }
  }

  /// Changes a record's value: reads it, changes it and writes it in one transaction.
  ///
  /// No other edit and no sync comes in between, so a value may depend on the one before.
  ///
  /// ```swift
  /// try await engine.edits.update(Game.self, key: "g1") { $0.seats -= 2 }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The model of the type.
  ///   - key: The record's key.
  ///   - change: Changes the value. The store may call it more than once, and only the last call
  ///     counts. Keep other effects out of it.
  /// - Returns: What the change returns.
  /// - Throws: `invalidEdit` if the record is not here; `undecodable` if it does not decode; what the
  ///   change throws; otherwise as ``upsert(_:key:)``. Nothing was written.
  @discardableResult
  public func update<T: SyncedRecord & Encodable, R: Sendable>(
    _ type: T.Type, key: String, _ change: @Sendable (inout T) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await perform { (batch) throws(SyncError) in try batch.update(type, key: key, change) }
  }

  /// Changes the value of an `id`'s record; see ``update(_:key:_:)``.
  @discardableResult
  public func update<T: SyncedRecord & Encodable & Identifiable, R: Sendable>(
    _ type: T.Type, id: T.ID, _ change: @Sendable (inout T) throws(SyncError) -> R
  ) async throws(SyncError) -> R where T.ID: RecordKey {
    try await perform { (batch) throws(SyncError) in try batch.update(type, id: id, change) }
  }

  /// Deletes the record of an `id`; see ``delete(_:)-(RecordID)``.
  public func delete<T: SyncedRecord & Identifiable>(
    _ type: T.Type, id: T.ID
  ) async throws(SyncError) where T.ID: RecordKey {
    try await perform { (batch) throws(SyncError) in try batch.delete(type, id: id) }
  }

  /// Deletes a record that was read; see ``delete(_:)-(RecordID)``.
  ///
  /// - Parameters:
  ///   - record: A record that was read.
  ///   - ifUnchanged: Whether it has to be as it was read.
  /// - Throws: `changedMeanwhile` if it has to be and is not.
  public func delete<T: SyncedRecord>(
    _ record: Stored<T>, ifUnchanged: Bool = false
  ) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in try batch.delete(record, ifUnchanged: ifUnchanged) }
  }

  /// Deletes a record, here at once and at the remote with the next push.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not declared; `invalidEdit` for an empty
  ///   key, or if other records refer to the record; the store's codes.
  public func delete(_ id: RecordID) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in try batch.delete(id) }
  }

  /// Makes several edits in one transaction: all of them, or none if the body throws.
  ///
  /// Write records before the records that refer to them, and delete them after those. The store
  /// may run the body more than once, and only the last run counts. Keep other effects out of it.
  ///
  /// The remote gets the edits one by one, and may accept some and refuse others, unless it applies
  /// them atomically. Then it accepts all of them or none. Edits that the records already have, and
  /// further ones before the push, belong to the same group. If the remote's state of one of the
  /// records wins over the edit of it, the others are refused, whatever follows, and wait for the app:
  /// ``retry(_:_:)`` sends them without it, and ``discard(_:)`` ends them.
  ///
  /// ```swift
  /// try await engine.edits.perform(atomically: true) { batch in
  ///   try batch.update(Account.self, id: from) { $0.balance -= amount }
  ///   try batch.update(Account.self, id: to) { $0.balance += amount }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - atomically: Whether the remote has to apply the edits together, too. A group has at most as
  ///     many edits as ``SinkLimits``; a larger one is refused at its push.
  ///   - body: Makes the edits.
  /// - Throws: What the body throws; `invalidConfiguration` for an atomic group if the remote applies
  ///   each change on its own (see ``RemoteRecordSink/appliesGroups``); `storeBusy`, `storeFull`,
  ///   `storeReadOnly` and the store's other codes. Nothing was written.
  public func perform<R: Sendable>(
    atomically: Bool = false, _ body: @Sendable (inout EditBatch) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    if atomically, !remote.appliesGroups {
      throw SyncError(
        .invalidConfiguration, during: "making an atomic group of edits",
        remote.identity.map { "\($0) applies each change on its own." } ?? "There is no remote.")
    }
    let (schema, options, account, now) = (schema, options, account, clock.timestamp)
    let (result, changed, events, saves) = try await store.write(.app) { (transaction) throws(SyncError) in
      try StoreAccount.demand(account, in: transaction)
      var batch = EditBatch(
        writer: try EditWriter(schema, at: now, maximumClockSkew: options.maximumClockSkew, in: transaction),
        schema: schema, options: options, transaction: transaction)
      let result = try body(&batch)
      if atomically { try transaction.joinAtomically(Array(Set(batch.writer.edited))) }
      try batch.writer.finish()
      return (result, batch.writer.changed, batch.events, batch.saves)
    }
    for (form, save) in saves.values { form.note(save) }
    if !changed.isEmpty { emit(.edited(changed)) }
    events.forEach(emit)
    return result
  }

  /// Discards a record's pending edit, and shows the last remote state again.
  ///
  /// The other edits of its atomic group are discarded with it. Without a pending edit, nothing
  /// happens. If the remote state refers to a record that is no
  /// longer in the store, it is parked, and shown once that record is back. A default that was edited
  /// is due again; it goes if the remote has perhaps taken the edit, or it refers to what is gone.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not declared; `invalidEdit` while an edit
  ///   may have reached the remote already, and if other records refer to a record that would
  ///   disappear; the store's codes.
  public func discard(_ id: RecordID) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in
      try batch.writer.discard(try batch.writer.current(id))
    }
  }

  /// Makes refused and postponed edits be sent again.
  ///
  /// Without keys, this applies to all edits of the type. Keys without such an edit are ignored.
  ///
  /// - Throws: `otherAccount`; the store's codes. Nothing was written.
  /// - Complexity: O(*p* + *k*) for *k* keys and the type's *p* pending edits.
  public func retry(_ type: RecordType, _ keys: [String]? = nil) async throws(SyncError) {
    let named = keys.map { $0.map { RecordID(type: type, key: $0) } }
    try await perform { (batch) throws(SyncError) in
      var wanted = named.map(Set.init)
      for id in named ?? [] { wanted?.insert(try batch.transaction.present(id)) }
      let due = try batch.transaction.makeDue(type) { [wanted] in
        $0.state != .waiting && !$0.isDraft && wanted?.contains($0.id) ?? true
      }
      for id in due { batch.writer.changed.insert(id) }
    }
  }

  /// Returns a type's pending edits, oldest first.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - after: The stamp of the last edit of the previous portion.
  ///   - limit: The most edits to return.
  /// - Throws: The store's codes.
  public func pending(
    _ type: RecordType, after: EditStamp? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [OutboxEntry] {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.portion(outbox: type, after: after, limit: limit)
    }
  }

  /// Returns a type's pending edits and what each waits for, oldest first.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - after: The stamp of the last edit of the previous portion.
  ///   - limit: The most edits to return.
  /// - Throws: The store's codes.
  public func waiting(
    _ type: RecordType, after: EditStamp? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [PendingEdit] {
    let entity = schema[type]
    return try await store.read { (snapshot) throws(SyncError) in
      try PendingEdit.read(
        snapshot.portion(outbox: type, after: after, limit: limit), of: entity, in: snapshot)
    }
  }

  /// Returns the resolved conflicts, newest first.
  ///
  /// - Parameters:
  ///   - type: The type; `nil` for all.
  ///   - before: The number of the last conflict of the previous portion.
  ///   - limit: The most conflicts to return.
  /// - Throws: The store's codes.
  public func conflicts(
    of type: RecordType? = nil, before: Int64? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [Conflict] {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.portion(conflicts: type, before: before, limit: limit)
    }
  }
}
