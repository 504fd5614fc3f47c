public import SyncModels

extension InMemoryRemote {
  /// What kind of remote it is. Each kind declares honestly what it can do.
  public struct Configuration: Sendable {
    /// How the remote tells what changed.
    public var deltas: SourceCapabilities.Deltas
    /// Whether deltas list deletions.
    public var sendsTombstones = true
    /// Whether a full listing is of one instant, by key, or moves: by last change, so that an edited record goes to the end.
    public var listing = SourceCapabilities.Listing.snapshot
    /// Whether records can be looked up by id.
    public var supportsLookup = false
    /// What versions mean: `perScan` numbers them by the pass, the other two by the change.
    public var versions = SourceCapabilities.VersionOrder.perChange
    /// The most records that a page holds, whatever is asked for.
    public var maximumPageSize: Int?
    /// Whether the remote says that its page tokens outlive the process.
    public var hasResumablePages = true
    /// Whether first pages say how many changes the pass lists.
    public var tellsTotals = true
    /// What modification times are rounded down to; a coarse one makes equal times likely.
    public var timeGranularity: Duration = .microseconds(1)
    /// How long each answer takes, by the remote's clock.
    public var latency: Duration = .zero
    /// What the remote says that it takes in one push.
    public var pushLimits = SinkLimits()
    /// What the remote takes in one push, where that is not what it says; one record alone may be too large.
    public var acceptedAtOnce: SinkLimits?
    /// Whether a change that comes again under its name is answered as the first time; without, its base no longer holds.
    public var remembersKeys = true
    /// The member into which the remote writes the number of each change of a record, whatever it was sent; `nil` for none.
    public var numberField: FieldName?
    /// What the remote says when asked for its filter.
    public var query = ""

    /// A kind of remote, by the way it tells what changed.
    public init(deltas: SourceCapabilities.Deltas) {
      self.deltas = deltas
    }

    /// Change tokens, tombstones, listings of one instant: like CloudKit's private zones.
    public static var privateZone: Configuration { Configuration(deltas: .changeTokens) }

    /// Modification times only, moving listings, neither tombstones nor lasting page tokens: like CloudKit's public database.
    public static func publicDatabase(overlap: Duration = .seconds(5)) -> Configuration {
      var configuration = Configuration(deltas: .modifiedSince(overlap: overlap))
      configuration.sendsTombstones = false
      configuration.listing = .moving
      configuration.hasResumablePages = false
      configuration.tellsTotals = false
      return configuration
    }

    /// Modification times and tombstones, in a moving listing that can be resumed: like Kinto.
    public static func timestampedCollection(overlap: Duration = .seconds(5)) -> Configuration {
      var configuration = Configuration(deltas: .modifiedSince(overlap: overlap))
      configuration.listing = .moving
      return configuration
    }

    /// Everything, or the word that nothing changed: like a directory of files.
    public static var fullOnly: Configuration {
      var configuration = Configuration(deltas: .fullOnly)
      configuration.sendsTombstones = false
      configuration.versions = .perScan
      return configuration
    }

    var capabilities: SourceCapabilities {
      SourceCapabilities(
        deltas: deltas, sendsTombstones: sendsTombstones, listing: listing, supportsLookup: supportsLookup,
        versions: versions, maximumPageSize: maximumPageSize,
        serverManagedFields: numberField.map { [$0] } ?? [])
    }

    var isByTime: Bool {
      if case .modifiedSince = deltas { true } else { false }
    }

    /// A time as the server writes it down.
    func rounded(_ time: Timestamp) -> Timestamp {
      let step = timeGranularity.wholeMicroseconds
      guard step > 1 else { return time }
      let rest = time.microseconds % step
      return Timestamp(microseconds: time.microseconds - (rest < 0 ? rest + step : rest))
    }
  }
}
