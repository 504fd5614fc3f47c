/// Where a remote's next delta starts: the remote's own word, stored and handed back, never parsed or compared in order.
public struct SyncToken: Hashable, Sendable, Codable {
  /// The remote's bytes, as text.
  public let rawValue: String

  /// Wraps what the remote gave.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two tokens are the same bytes.
  public static func == (a: SyncToken, b: SyncToken) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}

/// Where the next page of a pass starts: the remote's own word, stored and handed back, never parsed.
public struct PageToken: Hashable, Sendable, Codable {
  /// The remote's bytes, as text.
  public let rawValue: String

  /// Wraps what the remote gave.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two tokens are the same bytes.
  public static func == (a: PageToken, b: PageToken) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}
