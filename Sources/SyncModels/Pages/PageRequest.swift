/// What the engine asks a source for: one page of one type.
public struct PageRequest: Hashable, Sendable {
  /// The type, with the fields that its records are to be lifted out of their payloads.
  public let entity: Entity
  /// Where the page starts.
  public let position: PullPosition
  /// How many records the page may hold at most; the source may give fewer, and more only if it cannot split them.
  public let limit: Int
  /// The number of the pass this page belongs to: greater in each later pass over the type, and the same
  /// when a pass is resumed. A source that counts its own scans uses it for ``Version/sequence``.
  public let pass: Int64

  /// Asks for a page.
  public init(entity: Entity, position: PullPosition, limit: Int, pass: Int64) {
    self.entity = entity
    self.position = position
    self.limit = limit
    self.pass = pass
  }
}

/// Where a page starts.
public enum PullPosition: Hashable, Sendable {
  /// At the beginning of a pass: of what changed since the token, or of everything where there is none.
  case start(since: SyncToken?)
  /// Where the page before it ended.
  case resume(PageToken)
}
