import SyncJSON
public import SyncModels
public import SyncPorts

/// Reads the records of a store as the app's own types, without network access.
///
/// Each call reads one snapshot. A record whose payload does not decode as the requested type is
/// listed in ``RecordList/leftOut``, and reported to the engine's observers as
/// ``SyncEvent/undecodable(_:reason:)``. It stays in the store, unchanged.
/// ``undecodable(_:where:)`` lists such records alone.
public struct LocalRecords: Sendable {
  let store: any LocalStore
  let schema: SyncSchema
  private let poll: CommitPoll
  private let single: CoalescedReads
  private let subscribe: (@Sendable () -> EventSequence.Subscription)?
  let emit: @Sendable (SyncEvent) -> Void

  /// Creates a reader of a store with the types of a schema.
  ///
  /// - Parameters:
  ///   - store: The store with the records.
  ///   - schema: The types of the app.
  ///   - clock: Times the look-outs for commits while a query is observed.
  ///   - emit: Receives the events.
  public init(
    store: any LocalStore, schema: SyncSchema, clock: any Clock<Duration> = ContinuousClock(),
    emit: @escaping @Sendable (SyncEvent) -> Void = { _ in }
  ) {
    self.init(
      schema: schema, CommitPoll(store, clock: clock), CoalescedReads(store), subscribe: nil, emit: emit)
  }

  /// Creates a reader that hears an engine's events.
  init(
    schema: SyncSchema, _ poll: CommitPoll, _ single: CoalescedReads,
    subscribe: (@Sendable () -> EventSequence.Subscription)?, emit: @escaping @Sendable (SyncEvent) -> Void
  ) {
    store = poll.store
    self.schema = schema
    self.poll = poll
    self.single = single
    self.subscribe = subscribe
    self.emit = emit
  }

  /// Begins to hear of commits.
  func watch() -> CommitWatch { CommitWatch(poll: poll, events: subscribe?()) }

  /// The records as a type of the app's.
  func decoded<T: SyncedRecord>(_ read: ReadRecords, as type: T.Type) -> RecordList<Stored<T>> {
    let reader = ModelReader(type, habits: read.records.count > 1 ? JSONHabits() : nil)
    return read.list { (record, edit) throws(Undecodable) in
      try record.stored(by: reader, edit: edit, in: schema, reportingTo: emit)
    }
  }

  /// Returns every live record of a type, by key.
  ///
  /// - Complexity: O(*n*) in the type's records, all of which are held in memory; see
  ///   ``filter(_:where:order:afterKey:limit:)``.
  public func all<T: SyncedRecord>(_ type: T.Type) async throws(SyncError) -> RecordList<Stored<T>> {
    try await filter(type)
  }

  /// Returns the live records that satisfy a condition, sorted by fields.
  ///
  /// Records with equal fields are sorted by key.
  ///
  /// ```swift
  /// // A portion at a time: begin without a key, and go on after the last one until none follows.
  /// let portion = try await records.filter(Game.self, afterKey: previous?.lastKey, limit: 500)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The model of the type.
  ///   - condition: The condition; `nil` for all records.
  ///   - order: The fields to sort by; none for the order of keys.
  ///   - afterKey: Selects only records with a greater key; `order` has to be empty then.
  ///   - limit: The most records to read; `nil` for all.
  /// - Throws: ``SyncError`` with code `invalidConfiguration` for a type that is not declared, an
  ///   order beside `afterKey`, a negative limit, a ``Condition/invalid(_:)`` comparison, or a field
  ///   that neither the type decodes nor the schema declares, such as one by its Swift name.
  /// - Complexity: O(log *m* + *k*) for *k* records of *m* if a declared index fits, otherwise
  ///   O(*m*).
  public func filter<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil, order: [Query.SortField] = [],
    afterKey: String? = nil, limit: Int? = nil
  ) async throws(SyncError) -> RecordList<Stored<T>> {
    let query = try Self.query(type, condition, order, afterKey: afterKey, limit)
    let read = try await store.read { (snapshot) throws(SyncError) in
      try checkNames(in: query, of: type, snapshot)
      return try ReadRecords(query, by: schema.keyMembers(of: type), in: snapshot)
    }
    return decoded(read, as: type)
  }

  /// Returns the live records that do not decode as a type, with the reasons.
  ///
  /// They are sorted by key.
  ///
  /// - Throws: ``SyncError`` with code `invalidConfiguration` for a type that is not declared.
  /// - Complexity: O(*n*) in the type's records, of which a portion at a time is held in memory.
  ///   Each portion is a snapshot of its own.
  public func undecodable<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil
  ) async throws(SyncError) -> [Undecodable] {
    var found: [Undecodable] = []
    var query = try Self.query(type, condition, [], MergeContext.portion)
    let reader = ModelReader(type, habits: nil)
    while true {
      let portion = query
      let records = try await store.read { (snapshot) throws(SyncError) in
        try checkNames(in: portion, of: type, snapshot)
        return try snapshot.portion(of: portion)
      }
      for record in records {
        do throws(Undecodable) {
          _ = try record.decoded(by: reader, in: schema)
        } catch {
          found.append(error)
        }
      }
      guard records.count == MergeContext.portion, let last = records.last else { return found }
      query.afterKey = last.id.key
    }
  }

  /// Returns the live record with a key, if there is one.
  ///
  /// Calls that come while others are under way share the store's transactions.
  ///
  /// - Throws: ``SyncError`` with code `undecodable` for a record that does not decode.
  public func find<T: SyncedRecord>(_ type: T.Type, key: String) async throws(SyncError) -> Stored<T>? {
    try await find(type, [key])
  }

  /// Returns the live record of an `id`, if there is one.
  ///
  /// Its key may spell the `id` otherwise, such as a UUID in the other case.
  ///
  /// - Throws: ``SyncError`` with code `undecodable` for a record that does not decode;
  ///   `invalidConfiguration` for a type whose coding says that `id` is not the record's key.
  public func find<T: SyncedRecord & Identifiable>(
    _ type: T.Type, id: T.ID
  ) async throws(SyncError) -> Stored<T>? where T.ID: RecordKey {
    let keys = T.keys(of: id)
    if keys.isEmpty { throw .hasOtherKeys(T.recordType, .invalidConfiguration) }
    return try await find(type, keys)
  }

  private func find<T: SyncedRecord>(
    _ type: T.Type, _ keys: [String]
  ) async throws(SyncError) -> Stored<T>? {
    let found = try await single.find(keys.map { RecordID(type: T.recordType, key: $0) })
    return try decoded(ReadRecords(found), as: type).complete().first
  }

  /// Returns the number of live records that satisfy a condition.
  public func count<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil
  ) async throws(SyncError) -> Int {
    let query = try Self.query(type, condition, [], nil)
    return try await store.read { (snapshot) throws(SyncError) in
      try checkNames(in: query, of: type, snapshot)
      return try snapshot.count(query, by: schema.keyMembers(of: type))
    }
  }

  /// Returns the live records that satisfy a condition, with the targets of some references.
  ///
  /// Everything is read from one snapshot, each target once.
  ///
  /// - Parameters:
  ///   - type: The model of the type.
  ///   - condition: The condition; `nil` for all records.
  ///   - order: The fields to sort by; none for the order of keys.
  ///   - afterKey: Selects only records with a greater key; `order` has to be empty then.
  ///   - limit: The most records to read; `nil` for all.
  ///   - fields: Fields that the type declares as references.
  /// - Throws: ``SyncError`` with code `invalidConfiguration` for a field that is not declared as a
  ///   reference; otherwise as ``filter(_:where:order:afterKey:limit:)``.
  public func filter<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil, order: [Query.SortField] = [],
    afterKey: String? = nil, limit: Int? = nil, including fields: [FieldName]
  ) async throws(SyncError) -> RecordList<Included<T>> {
    let columns = try columns(of: fields, in: T.recordType)
    let query = try Self.query(type, condition, order, afterKey: afterKey, limit)
    let read = try await store.read { (snapshot) throws(SyncError) in
      try checkNames(in: query, of: type, snapshot)
      return try ReadIncluded(query, columns, by: schema.keyMembers(of: type), in: snapshot)
    }
    return decoded(read, as: type)
  }

  /// The records as a type of the app's, with the targets of their references.
  func decoded<T: SyncedRecord>(_ included: ReadIncluded, as type: T.Type) -> RecordList<Included<T>> {
    let reader = ModelReader(type)
    return included.read.list { (record, edit) throws(Undecodable) in
      let stored = try record.stored(by: reader, edit: edit, in: schema, reportingTo: emit)
      var references: [FieldName: Record] = [:]
      for column in included.columns {
        references[column.field] = column.target(in: record).flatMap { included.targets[$0] }
      }
      return Included(record: stored, references: references, schema: schema, emit: emit)
    }
  }

  func columns(
    of fields: [FieldName], in type: RecordType
  ) throws(SyncError) -> [ReadIncluded.Column] {
    var columns: [ReadIncluded.Column] = []
    for field in fields {
      guard let entity = schema[type], let index = entity.fields.firstIndex(of: field),
        let reference = entity.references.first(where: { $0.field == field })
      else {
        throw SyncError(
          .invalidConfiguration, during: "reading \(type)", "\(type).\(field) is not declared as a reference."
        )
      }
      columns.append(ReadIncluded.Column(field: field, index: index, type: reference.target))
    }
    return columns
  }

  static func query<T: SyncedRecord>(
    _ type: T.Type, _ condition: Condition?, _ order: [Query.SortField], afterKey: String? = nil,
    _ limit: Int?
  ) throws(SyncError) -> Query {
    let flaw: String? =
      if afterKey != nil, !order.isEmpty {
        "A read that begins after a key is in the order of keys: leave out the other order, or the key."
      } else if let limit, limit < 0 {
        "The limit is negative: give the most records to read, or none for all."
      } else {
        condition?.flaw
      }
    if let flaw { throw SyncError(.invalidConfiguration, during: "reading \(T.recordType)", flaw) }
    return Query(T.recordType, where: condition, order: order, afterKey: afterKey, limit: limit)
  }
}

extension StoreSnapshot {
  /// Returns the key of the record that an `id` stands for, or that a new record gets.
  ///
  /// - Parameter code: The code to throw if the type's coding says that `id` is not the key.
  func key<T: SyncedRecord & Identifiable>(
    of id: T.ID, _ type: T.Type, _ code: SyncError.Code = .invalidEdit
  ) throws(SyncError) -> String where T.ID: RecordKey {
    let keys = T.keys(of: id)
    guard let first = keys.first else { throw .hasOtherKeys(T.recordType, code) }
    if keys.count == 1 { return first }
    let found = try records(withIDs: keys.map { RecordID(type: T.recordType, key: $0) })
    return found.compactMap { $0?.id.key }.first ?? first
  }
}

extension SyncError {
  fileprivate static func hasOtherKeys(_ type: RecordType, _ code: Code) -> SyncError {
    SyncError(
      code, during: "finding a record of \(type)",
      "The type's coding says that id is not the record's key: name the key.")
  }
}

/// Records from one snapshot, and the states of their pending edits.
struct ReadRecords: Equatable {
  let records: [Record]
  let edits: [RecordID: EditState]

  init(_ query: Query, by members: KeyMembers, in snapshot: any StoreSnapshot) throws(SyncError) {
    try self.init(try snapshot.records(query, by: members), of: query.type, in: snapshot)
  }

  init(_ records: [Record], of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) {
    self.records = records
    let ids = try snapshot.outboxCount(type) == 0 ? [] : records.map(\.id)
    edits = try Self.states(of: ids, in: snapshot)
  }

  /// One record, or none.
  init(_ found: CoalescedReads.Found) {
    records = found.record.map { [$0] } ?? []
    edits = found.record.flatMap { record in found.edit.map { [record.id: $0] } } ?? [:]
  }

  static func states(
    of ids: [RecordID], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: EditState] {
    if ids.isEmpty { return [:] }
    return try snapshot.edits(of: ids).mapValues(EditState.init)
  }

  /// Decodes each record, and lists those that do not decode.
  func list<Element>(
    _ decode: (Record, EditState?) throws(Undecodable) -> Element
  ) -> RecordList<Element> {
    var elements: [Element] = []
    elements.reserveCapacity(records.count)
    var leftOut: [Undecodable] = []
    for record in records {
      do throws(Undecodable) {
        elements.append(try decode(record, edits[record.id]))
      } catch {
        leftOut.append(error)
      }
    }
    return RecordList(elements, leftOut: leftOut, lastKey: records.last?.id.key)
  }
}

/// Records from one snapshot, with the targets of some of their references.
struct ReadIncluded: Equatable {
  let read: ReadRecords
  let columns: [Column]
  let targets: [RecordID: Record]

  /// A field that refers to records.
  struct Column: Equatable {
    var field: FieldName
    var index: Int
    var type: RecordType

    func target(in record: Record) -> RecordID? {
      guard index < record.fields.count, case .string(let key) = record.fields[index] else { return nil }
      return RecordID(type: type, key: key)
    }
  }

  init(
    _ query: Query, _ columns: [Column], by members: KeyMembers, in snapshot: any StoreSnapshot
  ) throws(SyncError) {
    read = try ReadRecords(query, by: members, in: snapshot)
    self.columns = columns
    let wanted = Array(Set(read.records.flatMap { record in columns.compactMap { $0.target(in: record) } }))
    var targets: [RecordID: Record] = [:]
    for (id, record) in zip(wanted, try snapshot.records(withIDs: wanted)) { targets[id] = record }
    self.targets = targets
  }
}

/// A record, with the records that its references name.
public struct Included<Value: SyncedRecord>: Sendable {
  /// The record itself.
  public let record: Stored<Value>
  let references: [FieldName: Record]
  let schema: SyncSchema
  let emit: @Sendable (SyncEvent) -> Void

  /// Returns the record that a reference names.
  ///
  /// `nil` if the field is null, was not included, or names no live record.
  ///
  /// - Throws: ``SyncError`` with code `undecodable` for a record that does not decode as the type.
  public func reference<T: SyncedRecord>(
    _ field: FieldName, as type: T.Type = T.self
  ) throws(SyncError) -> T? {
    guard let record = references[field] else { return nil }
    do throws(Undecodable) {
      return try record.stored(by: ModelReader(T.self, habits: nil), edit: nil, in: schema, reportingTo: emit)
        .value
    } catch {
      throw SyncError(.undecodable, during: "reading \(field)", "\(error).", underlying: error)
    }
  }
}
