/// What became of the edits that a sync tried to push.
public struct PushCounts: Hashable, Sendable, Codable {
  /// Edits that the remote acknowledged.
  public var accepted = 0
  /// Edits that met another one at the remote.
  public var conflicts = 0
  /// Edits that the remote refused for good; they stay in the outbox with the reason.
  public var refused = 0
  /// Edits that the remote put off.
  public var postponed = 0
  /// Requests made, retries included.
  public var requests = 0
  /// Edits in the outbox afterwards, refused ones included.
  public var pending = 0
  /// Whether the remote had no room left.
  public var isRemoteFull = false

  /// Counts nothing.
  public init() {}

  /// Every number with its stable name, in the order in which they are shown.
  package static var names: [(name: String, path: WritableKeyPath<PushCounts, Int>)] {
    [
      ("accepted", \.accepted), ("conflicts", \.conflicts), ("refused", \.refused),
      ("postponed", \.postponed), ("requests", \.requests), ("pending", \.pending),
    ]
  }
}
