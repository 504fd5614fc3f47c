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
    /// How much the listing held; `nil` where that was not noted.
    public var listed: Int?
    /// Why the sweep waits for a person, where it does.
    public var refusal: Refusal?

    /// Describes a sweep that is due.
    public init(pass: Int64, listed: Int? = nil, refusal: Refusal? = nil) {
      self.pass = pass
      self.listed = listed
      self.refusal = refusal
    }
  }

  /// Why a sweep was not carried out.
  public enum Refusal: Hashable, Sendable, Codable {
    /// It would remove too much at once.
    case massDeletion(missing: Int, of: Int)
    /// So many bytes could not be read, and nobody knows which records they were.
    case unidentifiedMalformed(Int)
  }
}

// A checkpoint is read from a store, and its numbers are counted on.
extension Checkpoint {
  /// Reads a checkpoint.
  ///
  /// - Throws: `DecodingError` for numbers that no checkpoint comes to.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    scope = try values.decode(Scope.self, forKey: .scope)
    committed = try values.decodeIfPresent(SyncToken.self, forKey: .committed)
    committedAt = try values.decodeIfPresent(Timestamp.self, forKey: .committedAt)
    inFlight = try values.decodeIfPresent(Pass.self, forKey: .inFlight)
    lastPass = try values.decodeCount(forKey: .lastPass)
    epoch = try values.decodeCount(forKey: .epoch)
    sweptPass = try values.decodeCount(forKey: .sweptPass)
    sweptFence = try values.decodeIfPresent(Int64.self, forKey: .sweptFence)
    deletionsVerifiedAt = try values.decodeIfPresent(Timestamp.self, forKey: .deletionsVerifiedAt)
    needsSecondListing = try values.decode(Bool.self, forKey: .needsSecondListing)
    sweep = try values.decodeIfPresent(Sweep.self, forKey: .sweep)
  }
}

extension Checkpoint.Pass {
  /// Reads a pass.
  ///
  /// - Throws: `DecodingError` for numbers that no pass comes to.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      number: try values.decodeCount(forKey: .number),
      base: try values.decodeIfPresent(SyncToken.self, forKey: .base),
      coverage: try values.decode(RecordPage.Coverage.self, forKey: .coverage),
      resumeAt: try values.decodeIfPresent(PageToken.self, forKey: .resumeAt),
      candidate: try values.decodeIfPresent(SyncToken.self, forKey: .candidate),
      fetched: try values.decodeCount(forKey: .fetched),
      total: try values.decodeCountIfPresent(forKey: .total))
  }
}

extension Checkpoint.Sweep {
  /// Reads what a listing left to be removed.
  ///
  /// - Throws: `DecodingError` for a pass that there is none of.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      pass: try values.decodeCount(forKey: .pass),
      listed: try values.decodeCountIfPresent(forKey: .listed),
      refusal: try values.decodeIfPresent(Checkpoint.Refusal.self, forKey: .refusal))
  }
}
