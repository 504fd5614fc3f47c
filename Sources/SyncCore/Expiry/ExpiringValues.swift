import SyncJSON
public import SyncModels
import SyncPorts

/// A value beside a record that reads as absent after its lifetime.
///
/// An example is that a device was seen today. The value is not part of the record and stays in
/// this store. An ``ExpiringMember`` is part of the record and is synced.
///
/// ```swift
/// let seen = ExpiringField<String>("seen")
/// try await engine.expiring.set("kitchen", for: seen, of: id)
/// ```
public struct ExpiringField<Value: Codable & Sendable>: Sendable {
  /// The field's name, without slashes.
  public let name: String
  /// The lifetime of a value from when it was written.
  public let lifetime: Duration

  /// Declares a field; the default lifetime is a day.
  public init(_ name: String, lifetime: Duration = .seconds(24 * 3600)) {
    self.name = name
    self.lifetime = lifetime
  }
}

/// Reads and writes values that end by themselves.
///
/// They are kept beside the records in a store (``ExpiringField``), or as members of them
/// (``ExpiringMember``).
public struct ExpiringValues: Sendable {
  let store: any LocalStore
  let clock: any Clock<Duration>
  let edits: LocalEdits
  let maximumClockSkew: Duration

  /// Writes a value, whose lifetime begins now; `nil` removes it.
  ///
  /// ``SyncEngine/changes()`` tells of it as a change of the record, also in other processes.
  ///
  /// - Throws: `invalidConfiguration` for a field whose name is empty or has a slash; `invalidEdit`
  ///   for a value that JSON cannot represent; the store's codes.
  public func set<Value>(
    _ value: Value?, for field: ExpiringField<Value>, of id: RecordID
  ) async throws(SyncError) {
    try ExpiryMark.check(field)
    var bytes: [UInt8]?
    if let value {
      let mark = ExpiryMark(writtenAt: clock.timestamp, lifetime: field.lifetime.wholeMicroseconds)
      do {
        bytes = try JSONByteEncoder().encode(KeptValue(mark: mark, value: value))
      } catch {
        throw SyncError(
          .invalidEdit, during: "writing \(field.name) of \(id)", "JSON cannot represent the value.",
          underlying: error)
      }
    }
    let written = bytes
    let current = try await store.write(.app) { (transaction) throws(SyncError) in
      let current = try transaction.current(id)
      let key = ExpiryMark.key(of: field, current)
      try transaction.apply {
        $0.values = [StoreChanges.KeptValue(key.name, written)]
        $0.annotated = [current]
      }
      return current
    }
    edits.emit(.annotated(current))
  }

  /// Returns a value that was written less than its lifetime ago.
  ///
  /// `nil` otherwise, and for a value that was written as another type.
  public func value<Value>(
    of field: ExpiringField<Value>, for id: RecordID
  ) async throws(SyncError) -> Value? {
    try ExpiryMark.check(field)
    let now = clock.timestamp
    return try await store.read { (snapshot) throws(SyncError) in
      let kept = try snapshot.value(ifReadableOf: ExpiryMark.key(of: field, snapshot.current(id)))
      return kept.flatMap { $0.mark.isOver(at: now) ? nil : $0.value }
    }
  }
}

extension ExpiringValues {
  /// Moves what is kept beside records to their new keys, or to the records that they were merged into.
  ///
  /// A value there stays if it was written later.
  ///
  /// - Complexity: O(*m* *f* log *v*) for *m* records and *f* fields among *v* kept values.
  static func move(
    _ records: [(former: RecordID, id: RecordID)], in transaction: any StoreTransaction
  ) throws(SyncError) {
    for place in try transaction.placesBesideRecords(in: [.expiring]) {
      for (former, id) in records {
        guard let bytes = try transaction.value(forKey: place + former.description) else { continue }
        let other = try transaction.value(forKey: place + id.description)
        if ExpiryMark.writtenAt(other) <= ExpiryMark.writtenAt(bytes) {
          try transaction.setValue(bytes, forKey: place + id.description)
        }
        try transaction.setValue(nil, forKey: place + former.description)
      }
    }
  }
}

extension StoreSnapshot {
  /// The starts of the keys of what the app has kept beside records: an expiring field, a throttle's
  /// mark. What follows is a record's ID.
  ///
  /// - Complexity: O(*f* log *v*) for *f* fields among *v* kept values.
  func placesBesideRecords(
    in families: [ValueFamily] = [.expiring, .throttle]
  ) throws(SyncError) -> [String] {
    var places: [String] = []
    for prefix in families.map(\.rawValue) {
      var last: String?
      while let key = try portion(keys: prefix, after: last, limit: 1).first {
        places.append(prefix + key.dropFirst(prefix.count).prefix { $0 != "/" } + "/")
        last = places.last.map { $0 + "\u{10FFFF}" }
      }
    }
    return places
  }
}

/// When a value ends.
struct ExpiryMark: Hashable, Codable, Sendable {
  static let prefix = ValueFamily.expiring.rawValue
  var writtenAt: Timestamp
  /// The lifetime in microseconds.
  var lifetime: Int64

  /// Whether the value has ended.
  ///
  /// A value from a clock that was so far ahead that its end is unknown counts as ended.
  func isOver(at now: Timestamp) -> Bool {
    let lifetime = Duration.microseconds(lifetime)
    return now >= writtenAt + lifetime || now + lifetime < writtenAt
  }

  /// When kept bytes were written; before everything for none.
  fileprivate static func writtenAt(_ bytes: [UInt8]?) -> Timestamp {
    bytes.flatMap { try? JSONByteDecoder().decode(AnyExpiring.self, from: $0[...]) }?.mark.writtenAt
      ?? Timestamp(microseconds: .min)
  }

  /// Returns the key under which a value is kept.
  fileprivate static func key<Value>(
    of field: ExpiringField<Value>, _ id: RecordID
  ) -> ValueKey<KeptValue<Value>> {
    ValueKey(.expiring, "\(field.name)/\(id)")
  }

  fileprivate static func check<Value>(_ field: ExpiringField<Value>) throws(SyncError) {
    let field = field.name
    guard !field.isEmpty, !field.utf8.contains(UInt8(ascii: "/")) else {
      throw SyncError(
        .invalidConfiguration, during: "naming an expiring field",
        "\"\(field)\" is not a valid name: a name is not empty and has no slash.")
    }
  }
}

private struct KeptValue<Value: Codable & Sendable>: Codable, Sendable {
  var mark: ExpiryMark
  var value: Value
}

/// A value's mark without the value, whatever its type.
struct AnyExpiring: Decodable {
  var mark: ExpiryMark
}

extension SyncEngine {
  /// The values that end by themselves; ``cleanUp(_:token:)`` purges ended ones.
  public var expiring: ExpiringValues {
    ExpiringValues(
      store: environment.store, clock: environment.clock, edits: edits,
      maximumClockSkew: environment.edits.maximumClockSkew)
  }
}

/// A member of the records of a type whose values end by themselves.
///
/// The values are synced with the record. Other devices receive a value with the record, and see it
/// end. Reading a value gives `nil` once it has ended. A clean-up that names the member removes it,
/// by an edit.
///
/// ```swift
/// let connection = ExpiringMember<Connection>("connectionMetadata", of: "meters")
/// try await engine.expiring.set(Connection(ssid: "home"), for: connection, key: "cellar")
/// try await engine.cleanUp(CleanupPolicy(rules, expiring: [connection.purge]))
/// ```
public struct ExpiringMember<Value: Codable & Sendable>: Sendable {
  /// The type of the records.
  public let type: RecordType
  /// The member's name.
  public let name: FieldName
  /// The lifetime of a value from when it was written.
  public let lifetime: Duration

  /// Declares a member; the default lifetime is a day.
  public init(_ name: FieldName, of type: RecordType, lifetime: Duration = .seconds(24 * 3600)) {
    self.type = type
    self.name = name
    self.lifetime = lifetime
  }

  /// The declaration by which a clean-up removes the values that have ended.
  public var purge: CleanupPolicy.Purge { CleanupPolicy.Purge(type: type, name: name) }
}

extension ExpiringValues {
  /// Writes a value into a record, as an edit that the next sync pushes.
  ///
  /// `nil` removes the value. Its lifetime begins now. If the store lacks the record, it is added
  /// with this member alone.
  ///
  /// - Throws: As ``EditBatch/set(_:_:)``; `invalidEdit` for a value that JSON cannot represent.
  public func set<Value>(
    _ value: Value?, for member: ExpiringMember<Value>, key: String
  ) async throws(SyncError) {
    let id = RecordID(type: member.type, key: key)
    var bytes: [UInt8]?
    if let value {
      do {
        bytes = try RecordCoding().encode(Expiring(value, until: clock.timestamp + member.lifetime))
      } catch {
        throw SyncError(
          .invalidEdit, during: "writing \(member.name) of \(id)", "JSON cannot represent the value.",
          underlying: error)
      }
    }
    let written = bytes
    try await edits.perform { (batch) throws(SyncError) in
      if written == nil, try batch.record(id) == nil { return }
      try batch.set(id) { $0[member.name] = written.map { $0[...] } }
    }
  }

  /// Returns a record's value, written on any device, if it has not ended.
  ///
  /// `nil` as well for a value of another shape. A value that ends later than its lifetime allows,
  /// by more than ``EditOptions/maximumClockSkew``, was written by a clock far ahead, and counts as
  /// ended.
  public func value<Value>(of member: ExpiringMember<Value>, key: String) async throws(SyncError) -> Value? {
    let (id, now) = (RecordID(type: member.type, key: key), clock.timestamp)
    let found = try await store.read { (snapshot) throws(SyncError) in try snapshot.record(id) }
    guard let record = found, let bytes = (try? FieldMap(record.payload))?[member.name],
      let kept = try? RecordCoding().decode(Expiring<Value>.self, from: bytes),
      kept.expiresAt <= now + member.lifetime + maximumClockSkew
    else { return nil }
    return kept.value(at: now)
  }
}
