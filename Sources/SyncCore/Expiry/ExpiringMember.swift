public import SyncModels
import SyncPorts

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
  public var purge: CleanupPolicy.ExpiringMember { CleanupPolicy.ExpiringMember(type: type, name: name) }
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
    let records = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.records(withIDs: [id])
    }
    guard let record = records.first ?? nil, let bytes = (try? FieldMap(record.payload))?[member.name],
      let kept = try? RecordCoding().decode(Expiring<Value>.self, from: bytes),
      kept.expiresAt <= now + member.lifetime + maximumClockSkew
    else { return nil }
    return kept.value(at: now)
  }
}
