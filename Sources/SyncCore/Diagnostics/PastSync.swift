public import SyncModels

/// One sync in a store's history.
public struct PastSync: Hashable, Sendable {
  /// How a sync ended.
  public enum Outcome: String, Hashable, Sendable {
    /// It has begun, and its end is not noted.
    ///
    /// Its process may have been killed, if no later sync has begun.
    case running
    /// It was complete, except for types with a failure of their own.
    case finished
    /// It stopped on request.
    case stopped
    /// It failed as a whole.
    case failed
    /// A later sync has begun, and the end of this one is not noted.
    ///
    /// Its process was killed, or it lost its lease to the later sync.
    case killed
  }

  /// The failure of one type.
  public struct TypeFailure: Hashable, Sendable {
    /// The record type.
    public var type: RecordType
    /// The error.
    public var failure: PassOutcomes.Failure

    /// Creates the failure of a type.
    public init(_ type: RecordType, _ failure: PassOutcomes.Failure) {
      self.type = type
      self.failure = failure
    }
  }

  /// The number of the sync in the store's life, from 1.
  public var number: Int64
  /// The fencing number of the sync's lease.
  public var fence: Int64
  /// What caused the sync, by the names of triggers.
  public var triggers: [String]
  /// When the sync began.
  public var began: Timestamp
  /// How the sync ended.
  public var outcome = Outcome.running
  /// The duration in seconds; zero while it runs, and for a killed sync.
  public var seconds = 0.0
  /// The failure of the sync as a whole.
  public var failure: PassOutcomes.Failure?
  /// The failures of single types.
  public var typeFailures: [TypeFailure] = []
  /// The counts of each type that are not zero, by their stable names.
  public var counts: [RecordType: [String: Int]] = [:]
  /// The counts of pushed edits that are not zero, by their stable names.
  public var pushed: [String: Int] = [:]
  /// The bytes of the fetched records.
  public var bytes = 0
  /// The number of failed requests that were made again.
  public var retries = 0
  /// The time spent fetching pages, in seconds.
  ///
  /// Types fetch side by side, so it may exceed the sync's.
  public var fetchingSeconds = 0.0
  /// The time spent in the store's write transactions, in seconds.
  ///
  /// The commit of the last one, which has the entry, is missing.
  public var writingSeconds = 0.0

  /// Creates the entry of a sync that begins.
  public init(number: Int64, fence: Int64, triggers: [String], began: Timestamp) {
    self.number = number
    self.fence = fence
    self.triggers = triggers
    self.began = began
  }

  /// The sum of one count over all types.
  public func total(_ name: String) -> Int {
    counts.values.reduce(0) { $0 + ($1[name] ?? 0) }
  }
}
