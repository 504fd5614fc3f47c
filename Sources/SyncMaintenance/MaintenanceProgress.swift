/// How far a verification, a salvage or a move has come.
public struct MaintenanceProgress: Hashable, Sendable {
  /// The list under way, such as `games` or `games, outbox`.
  public var label: String
  /// The number of its entries that are done.
  public var done: Int

  /// Creates a progress.
  public init(_ label: String, done: Int) {
    (self.label, self.done) = (label, done)
  }
}
