import SyncJSON
public import SyncModels
public import SyncPorts

/// Reads the records of a store as the app's own types, without network access.
///
/// Each call reads one snapshot. A record whose payload does not decode as the requested type is
/// left out, and reported to the engine's observers as ``SyncEvent/undecodable(_:reason:)``. It
/// stays in the store, unchanged. ``undecodable(_:where:)`` lists such records.
public struct LocalRecords: Sendable {
  private let store: any LocalStore
  private let schema: SyncSchema
  private let emit: @Sendable (SyncEvent) -> Void

  /// Creates a reader of a store with the types of a schema.
  public init(
    store: any LocalStore, schema: SyncSchema, emit: @escaping @Sendable (SyncEvent) -> Void = { _ in }
  ) {
    self.store = store
    self.schema = schema
    self.emit = emit
  }

  /// Returns every live record of a type, by key.
  ///
  /// - Complexity: O(*n*) in the type's records, all of which are held in memory; see
  ///   ``filter(_:where:order:limit:)``.
  public func all<T: SyncedRecord>(_ type: T.Type) async throws(SyncError) -> [T] {
    try await filter(type)
  }

  /// Returns the live records that satisfy a condition, sorted by fields.
  ///
  /// Records with equal fields are sorted by key.
  ///
  /// - Throws: ``SyncError`` with code `invalidConfiguration` for a type that is not declared.
  /// - Complexity: O(log *m* + *k*) for *k* records of *m* if a declared index fits, otherwise
  ///   O(*m*).
  public func filter<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil, order: [Query.SortField] = [], limit: Int? = nil
  ) async throws(SyncError) -> [T] {
    let query = Query(T.recordType, where: condition, order: order, limit: limit)
    let records = try await store.read { (snapshot) throws(SyncError) in try snapshot.records(query) }
    return decoded(records)
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
    var query = Query(T.recordType, where: condition, limit: MergeContext.portion)
    while true {
      let portion = query
      let records = try await store.read { (snapshot) throws(SyncError) in
        try snapshot.portion(of: portion)
      }
      for record in records {
        if case .failure(let flaw) = record.decode(as: T.self) { found.append(flaw) }
      }
      guard records.count == MergeContext.portion, let last = records.last else { return found }
      query.afterKey = last.id.key
    }
  }

  /// Returns the live record with a key, if there is one.
  public func find<T: SyncedRecord>(_ type: T.Type, key: String) async throws(SyncError) -> T? {
    let id = RecordID(type: T.recordType, key: key)
    let records = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.records(withIDs: [id])
    }
    let values: [T] = decoded(records.compactMap(\.self))
    return values.first
  }

  /// Returns the number of live records that satisfy a condition.
  public func count<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil
  ) async throws(SyncError) -> Int {
    let query = Query(T.recordType, where: condition)
    return try await store.read { (snapshot) throws(SyncError) in try snapshot.count(query) }
  }

  /// Returns the live records that satisfy a condition, with the targets of some references.
  ///
  /// Everything is read from one snapshot, each target once.
  ///
  /// - Parameter fields: Fields that the type declares as references.
  /// - Throws: ``SyncError`` with code `invalidConfiguration` for a field that is not declared as a
  ///   reference.
  public func filter<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil, order: [Query.SortField] = [], limit: Int? = nil,
    including fields: [FieldName]
  ) async throws(SyncError) -> [Included<T>] {
    let columns = try columns(of: fields, in: T.recordType)
    let query = Query(T.recordType, where: condition, order: order, limit: limit)
    let (records, targets) = try await store.read { (snapshot) throws(SyncError) in
      let records = try snapshot.records(query)
      var ids: Set<RecordID> = []
      for record in records {
        for column in columns { if let id = column.target(in: record) { ids.insert(id) } }
      }
      let wanted = Array(ids)
      let found = try snapshot.records(withIDs: wanted)
      var targets: [RecordID: Record] = [:]
      for (id, record) in zip(wanted, found) { targets[id] = record }
      return (records, targets)
    }
    return records.compactMap { record in
      guard let value: T = decoded(record) else { return nil }
      var references: [FieldName: Record] = [:]
      for column in columns { references[column.field] = column.target(in: record).flatMap { targets[$0] } }
      return Included(record: value, references: references, emit: emit)
    }
  }

  private struct Column {
    var field: FieldName
    var index: Int
    var type: RecordType

    func target(in record: Record) -> RecordID? {
      guard index < record.fields.count, case .string(let key) = record.fields[index] else { return nil }
      return RecordID(type: type, key: key)
    }
  }

  private func columns(of fields: [FieldName], in type: RecordType) throws(SyncError) -> [Column] {
    var columns: [Column] = []
    for field in fields {
      guard let entity = schema[type], let index = entity.fields.firstIndex(of: field),
        let reference = entity.references.first(where: { $0.field == field })
      else {
        throw SyncError(
          .invalidConfiguration, during: "reading \(type)", "\(type).\(field) is not declared as a reference."
        )
      }
      columns.append(Column(field: field, index: index, type: reference.target))
    }
    return columns
  }

  private func decoded<T: SyncedRecord>(_ records: [Record]) -> [T] {
    records.compactMap { decoded($0) }
  }

  private func decoded<T: SyncedRecord>(_ record: Record) -> T? {
    record.decoded(reportingTo: emit)
  }
}

/// A record, with the records that its references name.
public struct Included<Value: SyncedRecord>: Sendable {
  /// The record itself.
  public let record: Value
  let references: [FieldName: Record]
  let emit: @Sendable (SyncEvent) -> Void

  /// Returns the record that a reference names.
  ///
  /// `nil` if the field is null, was not included, or names no live record.
  public func reference<T: SyncedRecord>(_ field: FieldName, as type: T.Type = T.self) -> T? {
    references[field].flatMap { $0.decoded(reportingTo: emit) }
  }
}

/// A live record that does not decode as the requested type.
public struct Undecodable: Error, Hashable, Sendable {
  /// The record; it stays in the store, unchanged.
  public var id: RecordID
  /// The missing or mistyped part, without record contents.
  public var reason: String
}

extension Record {
  fileprivate func decode<T: SyncedRecord>(as type: T.Type) -> Result<T, Undecodable> {
    do {
      return .success(try JSONByteDecoder().decode(T.self, from: payload.bytes))
    } catch {
      return .failure(Undecodable(id: id, reason: "\(error)"))
    }
  }

  fileprivate func decoded<T: SyncedRecord>(reportingTo emit: (SyncEvent) -> Void) -> T? {
    switch decode(as: T.self) {
    case .success(let value): return value
    case .failure(let flaw):
      emit(.undecodable(flaw.id, reason: flaw.reason))
      return nil
    }
  }
}

/// A Swift type that the records of one record type decode as.
///
/// A type that is `Identifiable` by its key, a `String`, can be edited without naming the key:
/// `edits.upsert(game)`.
///
/// ```swift
/// struct Game: SyncedRecord, Identifiable {
///   static let recordType: RecordType = "games"
///   var id: String
///   var date: String
/// }
/// ```
public protocol SyncedRecord: Decodable, Sendable {
  /// The type of the records.
  static var recordType: RecordType { get }
}
