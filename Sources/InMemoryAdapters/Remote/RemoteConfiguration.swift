public import SyncModels

extension InMemoryRemote {
  /// The kind of a remote. Each kind declares its true capabilities.
  public struct Configuration: Sendable {
    /// The way in which the remote reports changes.
    public var deltas: SourceCapabilities.Deltas
    /// Whether deltas list deletions.
    public var sendsTombstones = true
    /// The time between two deltas that list all keys; `nil` for none.
    ///
    /// It requires lookups, and deltas by time.
    public var sweepInterval: Duration?
    /// The order of a full listing.
    ///
    /// A snapshot is of one instant, by key. A moving listing is by last change, so an edited
    /// record moves to the end.
    public var listing = SourceCapabilities.Listing.snapshot
    /// Whether records can be looked up by id.
    public var supportsLookup = false
    /// The meaning of versions: `perScan` numbers the pass, the other two number the change.
    public var versions = SourceCapabilities.VersionOrder.perChange
    /// The most records of a page, regardless of the request.
    public var maximumPageSize: Int?
    /// Whether the remote declares that its page tokens outlive the process.
    public var hasResumablePages = true
    /// Whether first pages have the number of changes in the pass.
    public var tellsTotals = true
    /// The granularity of modification times, which are rounded down.
    ///
    /// A coarse one makes equal times likely.
    public var timeGranularity: Duration = .microseconds(1)
    /// The time before each answer, by the remote's clock.
    public var latency: Duration = .zero
    /// The declared limits of one push.
    public var pushLimits = SinkLimits()
    /// The actual limits of one push, if they differ from the declared ones.
    ///
    /// They may reject even a single record.
    public var acceptedAtOnce: SinkLimits?
    /// Whether a repeated change gets its first answer again.
    ///
    /// Otherwise its base no longer matches.
    public var remembersKeys = true
    /// Whether the remote applies the changes of a group together or not at all.
    public var appliesGroups = true
    /// Whether new records get a key of the remote's own: the next whole number.
    ///
    /// The number also replaces the app's key where a member holds it, unless that refers to another type.
    public var assignsKeys = false
    /// Whether tombstones carry the stamps of the edits that deleted their records.
    public var keepsDeletionStamps = true
    /// The member that holds the change's number in every record; `nil` for none.
    ///
    /// The remote overwrites any value that it was sent.
    public var numberField: FieldName?
    /// The remote's filter.
    public var query = ""

    /// Creates a kind of remote from the way in which it reports changes.
    public init(deltas: SourceCapabilities.Deltas) {
      self.deltas = deltas
    }

    /// Like CloudKit's private zones: change tokens, tombstones, listings of one instant.
    public static var privateZone: Configuration { Configuration(deltas: .changeTokens) }

    /// Like CloudKit's public database: modification times only.
    ///
    /// Listings move. There are neither tombstones nor lasting page tokens.
    public static func publicDatabase(overlap: Duration = .seconds(5)) -> Configuration {
      var configuration = Configuration(deltas: .modifiedSince(overlap: overlap))
      configuration.sendsTombstones = false
      configuration.listing = .moving
      configuration.hasResumablePages = false
      configuration.tellsTotals = false
      return configuration
    }

    /// Like a public database whose keys are listed from time to time.
    public static func sweptDatabase(
      overlap: Duration = .seconds(5), every interval: Duration = .seconds(30)
    ) -> Configuration {
      var configuration = publicDatabase(overlap: overlap)
      configuration.sweepInterval = interval
      configuration.supportsLookup = true
      return configuration
    }

    /// Like Kinto: modification times, tombstones, and a moving listing that can be resumed.
    public static func timestampedCollection(overlap: Duration = .seconds(5)) -> Configuration {
      var configuration = Configuration(deltas: .modifiedSince(overlap: overlap))
      configuration.listing = .moving
      return configuration
    }

    /// Like a directory of files: full listings, or the answer that nothing changed.
    public static var fullOnly: Configuration {
      var configuration = Configuration(deltas: .fullOnly)
      configuration.sendsTombstones = false
      configuration.versions = .perScan
      return configuration
    }

    var capabilities: SourceCapabilities {
      SourceCapabilities(
        deltas: deltas, sendsTombstones: sendsTombstones, sweepsByItself: sweepInterval != nil,
        listing: listing, supportsLookup: supportsLookup, versions: versions,
        maximumPageSize: maximumPageSize,
        serverManagedFields: numberField.map { [$0] } ?? [])
    }

    var isByTime: Bool {
      if case .modifiedSince = deltas { true } else { false }
    }

    /// A time rounded to the server's granularity.
    func rounded(_ time: Timestamp) -> Timestamp {
      let step = timeGranularity.wholeMicroseconds
      guard step > 1 else { return time }
      let rest = time.microseconds % step
      return Timestamp(microseconds: time.microseconds - (rest < 0 ? rest + step : rest))
    }
  }
}
