/// How far the pulls of one type have come: what is complete, and what is under way.
///
/// ``committed`` moves only when a pass is complete. A cancelled, failed or crashed pass leaves it where it was, and
/// ``inFlight`` tells where to go on.
public struct Checkpoint: Hashable, Sendable, Codable {
  /// What the tokens belong to; under any other scope they are void.
  public var scope: Scope
  /// Where the next delta starts; `nil` before the first complete pass, and where the remote has no tokens.
  public var committed: SyncToken?
  /// When the last pass was completed.
  public var committedAt: Timestamp?
  /// The pass under way, or interrupted.
  public var inFlight: Pass?
  /// The number of the last pass that was started; each later one has a greater.
  public var lastPass: Int64
  /// Which of the remote's lives the versions are of; raised when the remote was wiped, restored or exchanged for another.
  public var epoch: Int64
  /// The last pass after which everything that it did not list was removed; 0 before the first.
  public var sweptPass: Int64
  /// The fencing number of the sync that carried that sweep out; `nil` before the first, and after one of a version that did not note it.
  public var sweptFence: Int64?
  /// When a complete listing last showed what the remote had deleted.
  public var deletionsVerifiedAt: Timestamp?
  /// Whether the last complete listing of a moving collection lacked something that a second one has to lack too.
  public var needsSecondListing: Bool
  /// What a complete listing left to be removed.
  public var sweep: Sweep?

  /// A checkpoint from which the first pass starts.
  public init(scope: Scope) {
    self.scope = scope
    self.lastPass = 0
    self.epoch = 0
    self.sweptPass = 0
    self.needsSecondListing = false
  }

  /// What a checkpoint's tokens belong to. A change of any part makes them void: a full pass follows, never a silent gap.
  public struct Scope: Hashable, Sendable, Codable {
    /// Which remote gave the tokens.
    public var source: String
    /// What of the type the source was asked for.
    public var query: String
    /// The schema that the app understood.
    public var schemaVersion: Int
    /// The store that the rows are in.
    public var store: String

    /// Describes a scope.
    public init(source: String, query: String, schemaVersion: Int, store: String) {
      self.source = source
      self.query = query
      self.schemaVersion = schemaVersion
      self.store = store
    }
  }

  /// A pass that is not complete.
  public struct Pass: Hashable, Sendable, Codable {
    /// The pass's number.
    public var number: Int64
    /// The token that the pass started from.
    public var base: SyncToken?
    /// What the pass lists.
    public var coverage: RecordPage.Coverage
    /// Where to go on; `nil` where the source cannot, and the pass starts over.
    public var resumeAt: PageToken?
    /// The token to commit when the pass is complete, unless the source ends with its own.
    public var candidate: SyncToken?
    /// How many changes were committed so far.
    public var fetched: Int
    /// How many changes the remote expects to list.
    public var total: Int?

    /// Describes a pass.
    public init(
      number: Int64, base: SyncToken?, coverage: RecordPage.Coverage, resumeAt: PageToken? = nil,
      candidate: SyncToken? = nil, fetched: Int = 0, total: Int? = nil
    ) {
      self.number = number
      self.base = base
      self.coverage = coverage
      self.resumeAt = resumeAt
      self.candidate = candidate
      self.fetched = fetched
      self.total = total
    }
  }

  /// The removal of what a complete listing did not hold.
  public struct Sweep: Hashable, Sendable, Codable {
    /// The pass that listed everything.
    public var pass: Int64
    /// Why the sweep waits for a person, where it does.
    public var refusal: Refusal?

    /// Describes a sweep that is due.
    public init(pass: Int64, refusal: Refusal? = nil) {
      self.pass = pass
      self.refusal = refusal
    }
  }

  /// Why a sweep was not carried out.
  public enum Refusal: Hashable, Sendable, Codable {
    /// It would remove too much at once.
    case massDeletion(missing: Int, of: Int)
    /// So many bytes could not be read, and nobody knows which records they were.
    case unidentifiedPoison(Int)
  }
}
