public import SyncModels

/// What a rebuild did, or would do; one that was interrupted and has gone on counts from its beginning.
public struct RebuildReport: Hashable, Sendable {
  /// The type.
  public var type: RecordType
  /// The rebuild's version.
  public var version: Int
  /// How many records were live before.
  public var recordsBefore: Int
  /// How many records are live now, or would be.
  public var recordsAfter: Int
  /// What was done.
  public var counts: Counts
  /// Whether this version, or a later one, was complete before, so that nothing was done.
  public var wasDone = false
  /// Whether nothing was written, and the numbers say what would be.
  public var isDryRun = false
  /// Whether it stopped because it was asked to; the next call goes on from there.
  public var wasCancelled = false

  /// What became of groups of duplicates.
  public struct Counts: Hashable, Sendable, Codable {
    /// Groups that became one record.
    public var groups = 0
    /// Records that lost: gone from the store, and in the outbox where the remote has them.
    public var losers = 0
    /// References to a loser that now name the winner.
    public var repointed = 0
    /// Members that a winner took over.
    public var carriedOver = 0
    /// Groups that were no longer groups when their turn came.
    public var aborted = 0
    /// Groups that were left alone because the remote has something newer of a member that cannot be shown yet; the rebuild is complete once there are none.
    public var postponed = 0

    /// Counts nothing.
    public init() {}

    static func += (a: inout Counts, b: Counts) {
      a.groups += b.groups
      a.losers += b.losers
      a.repointed += b.repointed
      a.carriedOver += b.carriedOver
      a.aborted += b.aborted
      a.postponed += b.postponed
    }
  }
}

extension RebuildReport.Counts {
  /// Reads what was counted so far.
  ///
  /// - Throws: `DecodingError` for numbers that nobody counts up to.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    groups = try values.decodeCount(forKey: .groups)
    losers = try values.decodeCount(forKey: .losers)
    repointed = try values.decodeCount(forKey: .repointed)
    carriedOver = try values.decodeCount(forKey: .carriedOver)
    aborted = try values.decodeCount(forKey: .aborted)
    postponed = try values.decodeCount(forKey: .postponed)
  }
}
