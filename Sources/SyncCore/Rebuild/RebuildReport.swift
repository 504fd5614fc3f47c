public import SyncModels

/// What a rebuild did, or would do.
///
/// A rebuild that was resumed after an interruption counts from its beginning.
public struct RebuildReport: Hashable, Sendable {
  /// The record type.
  public var type: RecordType
  /// The rebuild's version.
  public var version: Int
  /// The number of live records before the rebuild.
  public var recordsBefore: Int
  /// The number of live records now, or after a real run.
  public var recordsAfter: Int
  /// The counts of groups and records.
  public var counts: Counts
  /// Whether this or a later version was already complete, so that nothing was done.
  public var wasDone = false
  /// Whether nothing was written, and the numbers describe a real run.
  public var isDryRun = false
  /// Whether the rebuild stopped on request; the next call resumes it.
  public var wasCancelled = false

  /// The outcomes of groups of duplicates.
  public struct Counts: Hashable, Sendable, Codable {
    /// Groups that became one record.
    public var groups = 0
    /// Records that lost.
    ///
    /// They are gone from the store. If the remote has them, their deletions are in the outbox.
    public var losers = 0
    /// References to a loser that now name the winner.
    public var repointed = 0
    /// Members that a winner took over.
    public var carriedOver = 0
    /// Groups that were no longer groups when their turn came.
    public var aborted = 0
    /// Groups that were postponed.
    ///
    /// The remote has a newer state of one of their records that cannot be shown yet. The rebuild
    /// is complete when there are none.
    public var postponed = 0

    /// Creates counts of zero.
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
  /// Decodes counts.
  ///
  /// - Throws: `DecodingError` for numbers out of range.
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
