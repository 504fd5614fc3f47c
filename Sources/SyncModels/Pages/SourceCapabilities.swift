/// What a source can do, declared before the first request; the engine picks its strategy by it.
public struct SourceCapabilities: Hashable, Sendable {
  /// How the source tells what changed.
  public var deltas: Deltas
  /// Whether deletions are listed in deltas. Without, only a full listing shows them.
  public var sendsTombstones: Bool
  /// Whether a full listing is of one instant, or of a collection that may change meanwhile.
  public var listing: Listing
  /// Whether ``RemoteRecordSource`` answers `lookup`.
  public var supportsLookup: Bool
  /// What versions of one record mean to each other.
  public var versions: VersionOrder
  /// The most records that a page can hold; `nil` for no limit of its own.
  public var maximumPageSize: Int?
  /// The members of a payload that the remote writes itself, whatever it is sent, such as the time of the last change.
  ///
  /// No edit is about them: where one meets the remote's copy, they are as the remote has them, before a merge policy is asked.
  public var serverManagedFields: [FieldName]

  /// Declares what a source can do.
  public init(
    deltas: Deltas, sendsTombstones: Bool, listing: Listing, supportsLookup: Bool = false,
    versions: VersionOrder = .perChange, maximumPageSize: Int? = nil, serverManagedFields: [FieldName] = []
  ) {
    self.deltas = deltas
    self.sendsTombstones = sendsTombstones
    self.listing = listing
    self.supportsLookup = supportsLookup
    self.versions = versions
    self.maximumPageSize = maximumPageSize
    self.serverManagedFields = serverManagedFields
  }

  /// How a source tells what changed.
  public enum Deltas: Hashable, Sendable {
    /// By tokens that stand for an exact place in its log of changes.
    case changeTokens
    /// By modification time. Deltas reach back by an overlap, because changes may become visible
    /// later than their time says; an overlap of zero or less is refused at set-up.
    case modifiedSince(overlap: Duration)
    /// Not at all: it lists everything, or says that nothing changed.
    case fullOnly
  }

  /// What a full listing is of.
  public enum Listing: Hashable, Sendable {
    /// One instant: what it lacks is gone.
    case snapshot
    /// A moving collection: a record may slip through between two pages, so absence has to be seen twice or looked up.
    case moving
  }

  /// What the versions of one record mean to each other.
  public enum VersionOrder: Hashable, Sendable {
    /// Each change has a greater version than the one before.
    case perChange
    /// Each scan restates all records with its own number; equal bytes are no change.
    case perScan
    /// Versions may go back: the copy fetched last is the current one.
    case latestFetched
  }
}
