public import SyncModels

/// Counts of what a store keeps for one type.
public struct TypeCounts: Hashable, Sendable {
  /// Withheld changes by kind; kinds without any are absent.
  public var withheld: [WithheldChange.Kind: Int]
  /// Outbox entries.
  public var pending: Int
  /// Rows, where they were to be counted.
  public var rows: Rows?

  /// Counts of a type's rows.
  public struct Rows: Hashable, Sendable {
    /// Live records.
    public var live: Int
    /// Live records without a mark.
    public var unmarked: Int

    /// Counts rows.
    public init(live: Int, unmarked: Int) {
      self.live = live
      self.unmarked = unmarked
    }
  }

  /// Counts what a store keeps.
  public init(withheld: [WithheldChange.Kind: Int], pending: Int, rows: Rows? = nil) {
    self.withheld = withheld
    self.pending = pending
    self.rows = rows
  }
}
