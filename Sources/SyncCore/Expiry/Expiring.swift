import SyncJSON
public import SyncModels

/// A member of a record whose value ends by itself, on every device.
///
/// ```swift
/// struct Meter: SyncedRecord, Codable {
///   var connectionMetadata: Expiring<Connection>?  // {"value":{…},"expiresAt":1767225600000}
/// }
/// let connection = meter.connectionMetadata?.value(at: now)
/// ```
///
/// In JSON it is an object with two members: `value`, and `expiresAt` in milliseconds since 1970.
public struct Expiring<Value> {
  private let stored: Value
  /// When the value ends, by the clock of the device that wrote it.
  public let expiresAt: Timestamp

  /// Creates a value with an end, which is kept in whole milliseconds.
  public init(_ value: Value, until expiresAt: Timestamp) {
    stored = value
    self.expiresAt = Timestamp(milliseconds: expiresAt.milliseconds)
  }

  /// The value; `nil` once it has ended.
  public func value(at now: Timestamp) -> Value? {
    now < expiresAt ? stored : nil
  }
}

extension Expiring: Sendable where Value: Sendable {}
extension Expiring: Equatable where Value: Equatable {}
extension Expiring: Hashable where Value: Hashable {}

extension Expiring: Encodable where Value: Encodable {
  /// Encodes the value and its end.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ExpiringKeys.self)
    try container.encode(stored, forKey: .value)
    try container.encode(expiresAt.milliseconds, forKey: .expiresAt)
  }
}

extension Expiring: Decodable where Value: Decodable {
  /// Decodes a value and its end, whether or not it has ended.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: ExpiringKeys.self)
    self.init(
      try container.decode(Value.self, forKey: .value),
      until: Timestamp(milliseconds: try container.decode(Int64.self, forKey: .expiresAt)))
  }
}

private enum ExpiringKeys: String, CodingKey {
  case value, expiresAt
}

/// The end of a value of any type.
private struct ExpiringEnd: Decodable {
  var expiresAt: Int64
}

extension Timestamp {
  /// The time in milliseconds since 1970, rounded down.
  fileprivate var milliseconds: Int64 {
    let quotient = microseconds / 1000
    return microseconds % 1000 < 0 ? quotient - 1 : quotient
  }
}

extension FieldMap {
  /// Returns when an ``Expiring`` member ends; `nil` for any other member.
  func end(of field: FieldName) -> Timestamp? {
    guard let bytes = self[field], let end = try? JSONByteDecoder().decode(ExpiringEnd.self, from: bytes)
    else {
      return nil
    }
    return Timestamp(milliseconds: end.expiresAt)
  }
}

extension Payload {
  /// Whether another payload is this one without members that have ended.
  ///
  /// Such a change is not an edit for which a conflict can be lost.
  ///
  /// - Parameter managed: Members that differ with each edit or version, and do not count.
  func isPurged(as other: Payload, at now: Timestamp, managed: Set<FieldName>) -> Bool {
    guard let before = try? FieldMap(self), let after = try? FieldMap(other) else { return false }
    let gone = before.fields.filter { after[$0] == nil && !managed.contains($0) }
    guard !gone.isEmpty, gone.allSatisfy({ before.end(of: $0).map { $0 <= now } ?? false }) else {
      return false
    }
    return after.fields.allSatisfy { managed.contains($0) || before.hasSameValue(as: after, for: $0) }
  }
}
