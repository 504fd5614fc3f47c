/// The capabilities of a source, declared before the first request.
///
/// The engine chooses its strategy by them.
public struct SourceCapabilities: Hashable, Sendable {
  /// The source's method to report changes.
  public var deltas: Deltas
  /// Whether deltas list deletions. Otherwise only a full listing shows them.
  public var sendsTombstones: Bool
  /// Whether the source itself decides when deletions are looked for.
  ///
  /// It then answers a request for a delta with a pass that covers everything, now and then. The
  /// engine requests no complete listing for deletions alone.
  public var sweepsByItself: Bool
  /// Whether a full listing shows one instant, or a collection that may change meanwhile.
  public var listing: Listing
  /// Whether the source implements `lookup` of ``RemoteRecordSource``.
  public var supportsLookup: Bool
  /// The meaning of the versions of one record.
  public var versions: VersionOrder
  /// The most records that a page can hold; `nil` for no limit.
  public var maximumPageSize: Int?
  /// The members of a payload that the remote writes itself, such as the modification time.
  ///
  /// No edit concerns them. When an edit meets the remote's copy, they take the remote's values
  /// before the merge policy runs.
  public var serverManagedFields: [FieldName]

  /// Creates the capabilities of a source.
  public init(
    deltas: Deltas, sendsTombstones: Bool, sweepsByItself: Bool = false, listing: Listing,
    supportsLookup: Bool = false, versions: VersionOrder = .perChange, maximumPageSize: Int? = nil,
    serverManagedFields: [FieldName] = []
  ) {
    self.deltas = deltas
    self.sendsTombstones = sendsTombstones
    self.sweepsByItself = sweepsByItself
    self.listing = listing
    self.supportsLookup = supportsLookup
    self.versions = versions
    self.maximumPageSize = maximumPageSize
    self.serverManagedFields = serverManagedFields
  }

  /// A source's method to report changes.
  public enum Deltas: Hashable, Sendable {
    /// By tokens that stand for an exact position in the remote's log of changes.
    case changeTokens
    /// By modification time, with an overlap.
    ///
    /// Deltas reach back by the overlap, because a change may become visible later than its time
    /// says. An overlap of zero or less is refused at set-up.
    case modifiedSince(overlap: Duration)
    /// Not at all. The source lists everything, or reports that nothing changed.
    case fullOnly
  }

  /// The state that a full listing shows.
  public enum Listing: Hashable, Sendable {
    /// One instant. A record that it lacks is gone.
    case snapshot
    /// A moving collection, in which a record may be missed between two pages.
    ///
    /// A missing record must be missing twice, or be looked up.
    case moving
  }

  /// The meaning of the versions of one record.
  public enum VersionOrder: Hashable, Sendable {
    /// Each change has a greater version than the previous one.
    case perChange
    /// Each scan numbers all records again. Equal bytes are no change.
    case perScan
    /// Versions may decrease. The copy fetched last is the current one.
    case latestFetched
  }
}
