/// An instant of civil time, in whole microseconds since 1970-01-01T00:00:00Z.
///
/// The range is that of `Int64`, some 292,000 years in each direction. Arithmetic saturates at its
/// ends.
public struct Timestamp: Hashable, Sendable, Codable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  public let microseconds: Int64

  /// Creates an instant from microseconds since 1970.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Creates an instant from milliseconds since 1970, clamped to the range.
  public init(milliseconds: Int64) {
    let (value, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    self.microseconds = overflow ? (milliseconds < 0 ? .min : .max) : value
  }

  /// Reads a bare number of microseconds, as ``encode(to:)`` writes it.
  public init(from decoder: any Decoder) throws {
    microseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes the bare number of microseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}

extension Timestamp: Comparable, CustomStringConvertible {
  /// Whether one instant is before another.
  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    a.microseconds < b.microseconds
  }

  /// The instant a duration later, clamped to the range.
  ///
  /// The duration is rounded to whole microseconds, towards zero.
  public func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflow) = microseconds.addingReportingOverflow(duration.wholeMicroseconds)
    return Timestamp(microseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The instant a duration later, clamped to the range.
  public static func + (instant: Timestamp, duration: Duration) -> Timestamp {
    instant.advanced(by: duration)
  }

  /// The instant a duration earlier, clamped to the range.
  public static func - (instant: Timestamp, duration: Duration) -> Timestamp {
    let (difference, overflow) = instant.microseconds.subtractingReportingOverflow(duration.wholeMicroseconds)
    return Timestamp(microseconds: overflow ? (duration < .zero ? .max : .min) : difference)
  }

  /// The duration from another instant to this one; negative if this one is earlier.
  public func duration(since earlier: Timestamp) -> Duration {
    let (difference, overflow) = microseconds.subtractingReportingOverflow(earlier.microseconds)
    return .microseconds(overflow ? (earlier.microseconds < 0 ? .max : .min) : difference)
  }

  /// Microseconds since 1970, with their unit.
  public var description: String { "\(microseconds)µs" }
}

extension Duration {
  /// The duration in whole microseconds, rounded towards zero, clamped to `Int64`.
  package var wholeMicroseconds: Int64 {
    // The components trap for a duration of more seconds than an `Int64` holds.
    Int64(clamping: attoseconds / 1_000_000_000_000)
  }

  /// The duration in seconds, as results print and report it.
  package var inSeconds: Double {
    Double(attoseconds) * 1e-18
  }
}
