public import SyncModels
public import SyncPorts

/// The results of a salvage: what was taken over, what was left out, and what was lost.
public struct SalvageReport: Sendable {
  /// The numbers of one type.
  public struct Counts: Hashable, Sendable {
    /// The number of local edits taken over.
    public var edits = 0
    /// The number of records taken over, without those that have an edit.
    public var records = 0
    /// The number of readable records left for the next sync.
    ///
    /// They refer to records that are missing, or are of a newer schema than the declaration.
    public var leftOut = 0
  }

  /// The numbers of each type.
  public internal(set) var types: [RecordType: Counts] = [:]
  /// The number of conflicts taken over.
  public internal(set) var conflicts = 0
  /// The number of kept values taken over.
  public internal(set) var values = 0
  /// The number of losses of each part.
  public private(set) var lost: [SalvageLoss.Part: Int] = [:]
  /// The first losses, in the order of the walk.
  public private(set) var losses: [SalvageLoss] = []

  private let limit: Int

  /// Creates an empty report.
  ///
  /// - Parameter limit: The most losses to keep; all are counted.
  init(limit: Int) {
    self.limit = limit
  }

  /// The number of local edits taken over.
  public var edits: Int { types.values.reduce(0) { $0 + $1.edits } }

  /// The number of records taken over.
  public var records: Int { types.values.reduce(0) { $0 + $1.records } }

  /// Whether something is lost that the next sync cannot fetch.
  ///
  /// Local edits, conflicts and kept values exist nowhere else.
  public var lostLocalState: Bool {
    [SalvageLoss.Part.outbox, .conflicts, .values].contains { lost[$0, default: 0] > 0 }
  }

  mutating func add(_ found: [SalvageLoss]) {
    losses += found.prefix(max(0, limit - losses.count))
    for loss in found { lost[loss.part, default: 0] += 1 }
  }
}
