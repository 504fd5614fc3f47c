/// The numbers of a sync's push.
public struct PushCounts: Hashable, Sendable, Codable {
  /// Edits that the remote acknowledged.
  public var accepted = 0
  /// Edits that met a different change at the remote.
  public var conflicts = 0
  /// Edits that the remote refused for good. They stay in the outbox with the reason.
  public var refused = 0
  /// Edits that the remote postponed.
  public var postponed = 0
  /// Requests made, retries included.
  public var requests = 0
  /// Edits in the outbox afterwards, refused ones included.
  public var pending = 0
  /// Whether the remote's storage was full.
  public var isRemoteFull = false

  /// Creates counts of zero.
  public init() {}

  /// Every number with its stable name, in display order.
  package static var names: [(name: String, value: @Sendable (PushCounts) -> Int)] {
    [
      ("accepted", { $0.accepted }), ("conflicts", { $0.conflicts }), ("refused", { $0.refused }),
      ("postponed", { $0.postponed }), ("requests", { $0.requests }), ("pending", { $0.pending }),
    ]
  }
}
