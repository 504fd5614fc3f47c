public import SyncModels

/// The counts of what a store keeps for one type.
public struct TypeCounts: Hashable, Sendable {
  /// The numbers of withheld changes by kind; kinds without any are absent.
  public var withheld: [WithheldChange.Kind: Int]
  /// The number of outbox entries.
  public var pending: Int
  /// The numbers of rows, if they were requested.
  public var rows: Rows?

  /// The numbers of a type's rows.
  public struct Rows: Hashable, Sendable {
    /// The number of live records.
    public var live: Int
    /// The number of live records without a mark.
    public var unmarked: Int

    /// Creates numbers of rows.
    public init(live: Int, unmarked: Int) {
      self.live = live
      self.unmarked = unmarked
    }
  }

  /// Creates counts.
  public init(withheld: [WithheldChange.Kind: Int], pending: Int, rows: Rows? = nil) {
    self.withheld = withheld
    self.pending = pending
    self.rows = rows
  }
}
