public import SyncModels
public import SyncPorts

/// Edits of the records in a store: readers see them at once, and they wait in the outbox until a sync pushes them.
///
/// Each call is one transaction, which needs no network and no lease, and which outlasts a power failure once the call returns. When it throws,
/// nothing was written.
///
/// ```swift
/// try await engine.edits.upsert(meter)  // Identifiable by its key
/// ```
public struct LocalEdits: Sendable {
  private let store: any LocalStore
  private let schema: SyncSchema
  private let clock: any Clock<Duration>
  private let options: EditOptions
  private let emit: @Sendable (SyncEvent) -> Void

  /// Edits a store whose types are those of a schema.
  ///
  /// - Parameters:
  ///   - clock: Stamps edits, as far as it can be trusted; see ``HybridClock``.
  ///   - sink: Where the edits will be pushed, perhaps by another process. It says whether stamps travel with records; see ``Stamping/automatic``. Without one they do not.
  ///   - serverManagedFields: The members that the remote writes itself, as ``SourceCapabilities/serverManagedFields`` tells.
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
          serverManagedFields: serverManagedFields, keepsUnknownMembers: sink?.keepsUnknownMembers ?? false)),
      clock, options, emit)
  }

  /// Edits for a remote that the schema knows.
  init(
    store: any LocalStore, schema: SyncSchema, _ clock: any Clock<Duration>, _ options: EditOptions,
    _ emit: @escaping @Sendable (SyncEvent) -> Void
  ) {
    self.store = store
    self.schema = schema
    self.clock = clock
    self.options = options
    self.emit = emit
  }

  /// Makes a record what a value says, or adds it.
  ///
  /// Members of the stored record that the value's type knows nothing of stay, and so does the spelling of those that it leaves as they were; an optional
  /// that is `nil` removes its member.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not declared; `invalidEdit` for a value that refers to a record that is not
  ///   here, or that JSON cannot spell; the store's codes.
  public func upsert<T: SyncedRecord & Encodable>(_ value: T, key: String) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in try batch.upsert(value, key: key) }
  }

  /// Makes a record of the value's own key what the value says, or adds it; see ``upsert(_:key:)``.
  public func upsert<T: SyncedRecord & Encodable & Identifiable>(
    _ value: T
  ) async throws(SyncError) where T.ID == String {
    try await upsert(value, key: value.id)
  }

  /// Deletes a record, here at once and at the remote with the next push.
  ///
  /// - Throws: `invalidEdit` if other records refer to it.
  public func delete(_ id: RecordID) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in try batch.delete(id) }
  }

  /// Makes several edits in one transaction: all of them, or none if the body throws.
  ///
  /// Records that refer to each other are written targets first, and deleted targets last.
  public func perform<R: Sendable>(
    _ body: @Sendable (inout EditBatch) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let (schema, options, now) = (schema, options, clock.timestamp)
    let (result, changed) = try await store.write(.app) { (transaction) throws(SyncError) in
      var batch = EditBatch(
        writer: try EditWriter(schema, at: now, maximumClockSkew: options.maximumClockSkew, in: transaction),
        schema: schema, transaction: transaction)
      let result = try body(&batch)
      try batch.writer.finish()
      return (result, batch.writer.changed)
    }
    if !changed.isEmpty { emit(.edited(changed)) }
    return result
  }

  /// Gives up a record's pending edit, and shows the remote's last word again; without one, nothing happens.
  ///
  /// Where that word refers to a record that is not here any more, it is set aside as parked, and shown once the record is back.
  ///
  /// - Throws: `invalidEdit` while the edit may have reached the remote already, and where other records refer to what would vanish.
  public func discard(_ id: RecordID) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in try batch.writer.discard(id) }
  }

  /// Lets edits be sent again that the remote refused or put off; without records named, all of a type's.
  ///
  /// - Complexity: O(*p*) in the type's pending edits.
  public func retry(_ type: RecordType, _ keys: [String]? = nil) async throws(SyncError) {
    try await store.write(.app) { (transaction) throws(SyncError) in
      var last: EditStamp?
      while true {
        let entries = try transaction.portion(outbox: type, after: last)
        guard let end = entries.last else { return }
        last = end.edit.stamp
        let chosen = entries.filter { entry in
          entry.state != .waiting && keys?.contains { $0.isSameUTF8(as: entry.id.key) } ?? true
        }
        if chosen.isEmpty { continue }
        try transaction.queue(
          chosen.map { entry in
            var entry = entry
            entry.state = .waiting
            entry.attempts = 0
            return entry
          })
      }
    }
  }

  /// A type's pending edits, in the order in which they were made.
  ///
  /// - Parameter after: The stamp of the edit after which to begin, to read them in portions.
  public func pending(
    _ type: RecordType, after: EditStamp? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [OutboxEntry] {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.portion(outbox: type, after: after, limit: limit)
    }
  }

  /// A type's pending edits with what each waits for, in the order in which they were made.
  ///
  /// - Parameter after: The stamp of the edit after which to begin, to read them in portions.
  public func waiting(
    _ type: RecordType, after: EditStamp? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [PendingEdit] {
    let entity = schema[type]
    return try await store.read { (snapshot) throws(SyncError) in
      try PendingEdit.read(
        snapshot.portion(outbox: type, after: after, limit: limit), of: entity, in: snapshot)
    }
  }

  /// The settled conflicts, the newest first.
  ///
  /// - Parameter before: The number of the conflict before which to begin, to read them in portions.
  public func conflicts(
    of type: RecordType? = nil, before: Int64? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [Conflict] {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.portion(conflicts: type, before: before, limit: limit)
    }
  }
}
