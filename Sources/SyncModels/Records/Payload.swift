/// A record's JSON object as bytes.
///
/// The bytes are a slice of the remote's answer, never re-encoded on the way to the store. A slice
/// shares its buffer: copy a payload that is kept for long (see ``detached()``).
public struct Payload: Hashable, Sendable {
  /// The UTF-8 bytes of one JSON object.
  public let bytes: ArraySlice<UInt8>

  /// Wraps the bytes of one JSON object, without checking or copying them.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// Wraps the bytes of one JSON object, without checking or copying them.
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes[...]
  }

  /// The same payload in a buffer of its own.
  ///
  /// The page that it was cut from can then be freed.
  ///
  /// - Complexity: O(*n*) in the payload's bytes.
  public func detached() -> Payload {
    Payload(Array(bytes))
  }
}

extension Payload: CustomStringConvertible {
  /// The number of bytes. Contents stay out of descriptions, which end up in logs.
  public var description: String { "\(Counted(bytes.count, "byte"))" }
}

extension Payload: Codable {
  /// Reads the form that ``encode(to:)`` writes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.init(Array(text.utf8))
    } else {
      self.init(try container.decode([UInt8].self))
    }
  }

  /// Writes UTF-8 as a string, and other bytes as an array of numbers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let text = String(validating: bytes, as: UTF8.self) {
      try container.encode(text)
    } else {
      try container.encode(Array(bytes))
    }
  }
}
