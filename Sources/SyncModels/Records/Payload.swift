/// A record's JSON object as bytes: a slice of what came over the wire, never re-encoded on the way to the store.
///
/// A slice shares the buffer that it was cut from; whoever keeps payloads for long copies them (see ``detached()``).
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

  /// The same payload in a buffer of its own, so that the page it was cut from can be freed.
  ///
  /// - Complexity: O(*n*) in the payload's bytes.
  public func detached() -> Payload {
    Payload(Array(bytes))
  }
}

extension Payload: CustomStringConvertible {
  /// The number of bytes; contents stay out of descriptions, which end up in logs.
  public var description: String { "\(Counted(bytes.count, "byte"))" }
}
