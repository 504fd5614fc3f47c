public import SyncModels

/// The pull progress of one type: the last completed pass and the pass under way.
///
/// ``committed`` moves only when a pass is complete. A cancelled, failed or crashed pass leaves it
/// unchanged, and ``inFlight`` tells where to resume.
public struct Checkpoint: Hashable, Sendable, Codable {
  /// The scope of the tokens. Under any other scope the tokens are void.
  public var scope: Scope
  /// The token of the next delta.
  ///
  /// `nil` before the first complete pass, and for a remote without tokens.
  public var committed: SyncToken?
  /// When the last pass was completed.
  public var committedAt: Timestamp?
  /// The pass that is under way or was interrupted.
  public var inFlight: Pass?
  /// The number of the last pass that was started. Numbers increase with each pass.
  public var lastPass: Int64
  /// The epoch of the versions. A wiped, restored or replaced remote starts a new epoch.
  public var epoch: Int64
  /// The last pass whose sweep is complete; 0 before the first.
  ///
  /// That sweep removed every record that the pass did not list.
  public var sweptPass: Int64
  /// The fencing number of the sync that carried out that sweep.
  ///
  /// `nil` before the first sweep, and after a sweep by a version of the library that did not
  /// record the number.
  public var sweptFence: Int64?
  /// When a complete listing last verified which records the remote had deleted.
  public var deletionsVerifiedAt: Timestamp?
  /// Whether a record was missing from the last complete listing of a moving collection.
  ///
  /// The record is removed only if a second listing lacks it too.
  public var needsSecondListing: Bool
  /// Whether the scope has got another query since the last complete sweep.
  ///
  /// What the new query does not cover is then removed without a question, however much it is.
  public var hasNewQuery: Bool
  /// The sweep that is due after a complete listing.
  public var sweep: Sweep?

  /// Creates the checkpoint from which the first pass starts.
  public init(scope: Scope) {
    self.scope = scope
    self.lastPass = 0
    self.epoch = 0
    self.sweptPass = 0
    self.needsSecondListing = false
    self.hasNewQuery = false
  }

  /// The scope in which a checkpoint's tokens are valid.
  ///
  /// A change of any part makes the tokens void. A full pass follows, never a silent gap.
  public struct Scope: Hashable, Sendable, Codable {
    /// The identity of the remote that issued the tokens.
    public var source: String
    /// The query that the source was asked for.
    public var query: String
    /// The schema version that the app understood.
    public var schemaVersion: Int
    /// The identity of the store that holds the rows.
    public var store: String

    /// Creates a scope.
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
    /// The token from which the pass started.
    public var base: SyncToken?
    /// The coverage of the pass: changes or everything.
    public var coverage: RecordPage.Coverage
    /// The page at which the pass resumes.
    ///
    /// `nil` if the source cannot resume a pass. The pass then starts over.
    public var resumeAt: PageToken?
    /// The token to commit with the complete pass, unless the source ends with its own.
    public var candidate: SyncToken?
    /// The number of changes committed so far.
    public var fetched: Int
    /// The number of changes that the remote expects to list.
    public var total: Int?

    /// Creates the state of a pass.
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

  /// The removal of the records that a complete listing lacked.
  public struct Sweep: Hashable, Sendable, Codable {
    /// The number of the pass that listed everything.
    public var pass: Int64
    /// The number of records in the listing; `nil` if it was not recorded.
    public var listed: Int?
    /// Why the sweep waits for a person's decision; `nil` if it does not wait.
    public var refusal: SweepRefusal?

    /// Creates a sweep that is due.
    public init(pass: Int64, listed: Int? = nil, refusal: SweepRefusal? = nil) {
      self.pass = pass
      self.listed = listed
      self.refusal = refusal
    }
  }
}

// A checkpoint is read from a store, which may be damaged, and the engine calculates with its
// numbers.
extension Checkpoint {
  /// Reads a checkpoint.
  ///
  /// - Throws: `DecodingError` for numbers outside the range of any checkpoint.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: StoredMember.self)
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
    hasNewQuery = try values.decodeIfPresent(Bool.self, forKey: .hasNewQuery) ?? false
    sweep = try values.decodeIfPresent(Sweep.self, forKey: .sweep)
  }

  /// Writes a checkpoint, without members that are `nil` or seldom true.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: StoredMember.self)
    try values.encode(scope, forKey: .scope)
    try values.encodeIfPresent(committed, forKey: .committed)
    try values.encodeIfPresent(committedAt, forKey: .committedAt)
    try values.encodeIfPresent(inFlight, forKey: .inFlight)
    try values.encode(lastPass, forKey: .lastPass)
    try values.encode(epoch, forKey: .epoch)
    try values.encode(sweptPass, forKey: .sweptPass)
    try values.encodeIfPresent(sweptFence, forKey: .sweptFence)
    try values.encodeIfPresent(deletionsVerifiedAt, forKey: .deletionsVerifiedAt)
    try values.encode(needsSecondListing, forKey: .needsSecondListing)
    if hasNewQuery { try values.encode(true, forKey: .hasNewQuery) }
    try values.encodeIfPresent(sweep, forKey: .sweep)
  }
}

extension Checkpoint.Scope {
  /// Reads a scope.
  ///
  /// - Throws: `DecodingError` for a value of another form.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: StoredMember.self)
    self.init(
      source: try values.decode(String.self, forKey: .source),
      query: try values.decode(String.self, forKey: .query),
      schemaVersion: try values.decode(Int.self, forKey: .schemaVersion),
      store: try values.decode(String.self, forKey: .store))
  }

  /// Writes a scope.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: StoredMember.self)
    try values.encode(source, forKey: .source)
    try values.encode(query, forKey: .query)
    try values.encode(schemaVersion, forKey: .schemaVersion)
    try values.encode(store, forKey: .store)
  }
}

extension Checkpoint.Pass {
  /// Reads a pass.
  ///
  /// - Throws: `DecodingError` for numbers outside the range of any pass.
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
  /// Reads the sweep that a listing left due.
  ///
  /// - Throws: `DecodingError` for an impossible pass number.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      pass: try values.decodeCount(forKey: .pass),
      listed: try values.decodeCountIfPresent(forKey: .listed),
      refusal: try values.decodeIfPresent(SweepRefusal.self, forKey: .refusal))
  }
}
