/// The opaque token of a remote's next delta.
///
/// It is stored and sent back, never parsed or compared by order.
public struct SyncToken: Hashable, Sendable {
  /// The remote's bytes, as text.
  public let rawValue: String

  /// Wraps a token of the remote.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two tokens are equal, byte for byte.
  public static func == (a: SyncToken, b: SyncToken) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}

/// The opaque token of the next page of a pass.
///
/// It is stored and sent back, never parsed.
public struct PageToken: Hashable, Sendable {
  /// The remote's bytes, as text.
  public let rawValue: String

  /// Wraps a token of the remote.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two tokens are equal, byte for byte.
  public static func == (a: PageToken, b: PageToken) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}
