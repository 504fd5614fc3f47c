import SyncModels

/// How a ``SyncEngine`` paces itself.
public struct SyncOptions: Hashable, Sendable {
  /// How many records a page is asked to hold, 1 or more; the source may have a lower limit of its own.
  public var pageSize: Int
  /// How many pages of a type are fetched ahead while others are being committed; 0 fetches and commits in turn.
  ///
  /// They are more than one only as long as they are small, some megabytes together. Those that wait are committed in one transaction: what
  /// comes faster than the store can write it is written in larger pieces, anything else page by page.
  public var pagesAhead: Int
  /// How many types are fetched side by side, where none of them refers to another.
  public var maximumConcurrentTypes: Int
  /// When a failed request is made again.
  public var retry: RetryPolicy
  /// How long the right to sync outlives its holder; it is renewed three times as often.
  public var leaseDuration: Duration
  /// How often a remote without tombstones is listed completely, to learn what was deleted.
  public var deletionCheckInterval: Duration
  /// From how many removals at once on a sweep may have to be allowed; see ``massDeletionShare``.
  public var massDeletionRecords: Int
  /// Of which share of a type on, 0 to 1, more than ``massDeletionRecords`` removals have to be allowed.
  public var massDeletionShare: Double
  /// How many live records a type has when a listing that holds nothing at all has to be allowed to remove them.
  ///
  /// That is what a file looks like that is being written, or was cut off.
  public var emptyListingRecords: Int

  /// Describes a pace; the defaults suit a phone as well as a server.
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

  /// Refuses what makes no sense, and what would not be safe with a source.
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
        "A source that tells changes by time has to reach back by an overlap, or late commits are lost."
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
