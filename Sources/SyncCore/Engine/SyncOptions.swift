import SyncModels

/// Options of a ``SyncEngine``: page sizes, concurrency, retries and guards.
public struct SyncOptions: Hashable, Sendable {
  /// The requested number of records in a page, 1 or more.
  ///
  /// The source may have a lower limit of its own.
  public var pageSize: Int
  /// The number of pages of a type to fetch ahead during commits.
  ///
  /// 0 fetches and commits in turn. There is more than one page only while pages are small, some
  /// megabytes together. Waiting pages are committed in one transaction. Pages that arrive faster
  /// than the store can write them are thus written in larger pieces, others one by one.
  public var pagesAhead: Int
  /// The number of types to fetch at the same time, if none refers to another.
  public var maximumConcurrentTypes: Int
  /// The policy for retrying failed requests.
  public var retry: RetryPolicy
  /// How long a lease outlives its holder, 10 ms or more.
  ///
  /// A sync renews it after each third of this time.
  public var leaseDuration: Duration
  /// How often a remote without tombstones is listed completely, to find deletions.
  ///
  /// Zero or less lists it completely at every sync.
  public var deletionCheckInterval: Duration
  /// A sweep that removes more records than this may need confirmation.
  ///
  /// See ``massDeletionShare``.
  public var massDeletionRecords: Int
  /// The share of a type, 0 to 1, above which a sweep needs confirmation.
  ///
  /// It applies to more than ``massDeletionRecords`` removals. It does not apply to what another
  /// ``RemoteRecordSource/query(for:)`` leaves out, which was asked for.
  public var massDeletionShare: Double
  /// The number of live records from which an empty listing needs confirmation.
  ///
  /// An empty listing may come from a file that is being written, or that was cut off. Of a remote that
  /// shows each deletion, as a CloudKit zone does, it needs confirmation whatever the number is: such a
  /// remote has lost its records.
  public var emptyListingRecords: Int

  /// Creates options; the defaults suit a phone as well as a server.
  public init(
    pageSize: Int = 400, pagesAhead: Int = 10, maximumConcurrentTypes: Int = 4,
    retry: RetryPolicy = RetryPolicy(),
    leaseDuration: Duration = .seconds(15), deletionCheckInterval: Duration = .seconds(24 * 3600),
    massDeletionRecords: Int = 100, massDeletionShare: Double = 0.5, emptyListingRecords: Int = 10
  ) {
    self.pageSize = pageSize
    self.pagesAhead = pagesAhead
    self.maximumConcurrentTypes = maximumConcurrentTypes
    self.retry = retry
    self.leaseDuration = leaseDuration
    self.deletionCheckInterval = deletionCheckInterval
    self.massDeletionRecords = massDeletionRecords
    self.massDeletionShare = massDeletionShare
    self.emptyListingRecords = emptyListingRecords
  }

  /// Checks that the options are valid, and safe with a source.
  func check(against source: SourceCapabilities) throws(SyncError) {
    let flaw: String? =
      if pageSize < 1 {
        "A page has to hold 1 record or more, not \(pageSize)."
      } else if pagesAhead < 0 || maximumConcurrentTypes < 1 {
        "pagesAhead has to be 0 or more, and maximumConcurrentTypes 1 or more."
      } else if retry.attempts < 1 || retry.base < .zero || retry.cap < .zero {
        "A request is made at least once, and pauses are not negative."
      } else if leaseDuration < .milliseconds(10) {
        "A lease has to last 10 ms or more, not \(leaseDuration)."
      } else if massDeletionRecords < 0 || emptyListingRecords < 0 || !(0...1).contains(massDeletionShare) {
        "The guard against mass deletion needs counts of 0 or more and a share from 0 to 1."
      } else if case .modifiedSince(let overlap) = source.deltas, overlap <= .zero {
        "A source that finds changes by time needs an overlap, or late commits are lost."
      } else if let maximum = source.maximumPageSize, maximum < 1 {
        "The source declares pages of at most \(maximum) records."
      } else {
        nil
      }
    if let flaw {
      throw SyncError(.invalidConfiguration, during: "setting up the sync", flaw)
    }
  }
}
