public import SyncModels

/// The pull progress of one type: the last completed pass and the pass under way.
///
/// ``committed`` moves only when a pass is complete. A cancelled, failed or crashed pass leaves it
/// unchanged, and ``inFlight`` tells where to resume.
public struct Checkpoint: Hashable, Sendable {
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
  public struct Scope: Hashable, Sendable {
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
  public struct Pass: Hashable, Sendable {
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
  public struct Sweep: Hashable, Sendable {
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
