/// What became of the changes that a sync fetched, each counted once, by its fate at the end.
///
/// ``fetched`` equals the sum of the eight fates less ``swept``: a sweep deletes what was *not* fetched.
public struct SyncCounts: Hashable, Sendable, Codable {
  /// Records that were not there before.
  public var inserted = 0
  /// Records replaced by a newer copy.
  public var updated = 0
  /// Records removed, by a tombstone or by a sweep.
  public var deleted = 0
  /// Copies that the store already had.
  public var unchanged = 0
  /// Copies older than what the store has.
  public var skippedOlder = 0
  /// Records of a newer schema than the app understands, kept for later.
  public var skippedIncompatible = 0
  /// Changes that wait: for a record they refer to, for records that refer to them, or for the whole type's publication.
  public var deferred = 0
  /// Bytes that could not be read as a record, kept with the reason.
  public var quarantined = 0

  /// How many of ``deleted`` a sweep removed because a complete listing no longer held them.
  public var swept = 0
  /// Edits that met another one; counted beside the fates.
  public var conflicts = 0
  /// Changes that an earlier sync had to set aside and this one applied, and records that it applied and a changed declaration withholds; counted beside
  /// the fates.
  public var replayed = 0
  /// Changes that the remote sent.
  public var fetched = 0
  /// Pages committed that held changes; an empty answer is a request, and no page.
  public var pages = 0
  /// Requests made to the remote, retries included.
  public var requests = 0

  /// Counts nothing.
  public init() {}

  /// The sum of the eight fates.
  public var fates: Int {
    inserted + updated + deleted + unchanged + skippedOlder + skippedIncompatible + deferred + quarantined
  }

  /// Whether nothing that readers can see was changed.
  public var isEmpty: Bool {
    inserted == 0 && updated == 0 && deleted == 0 && replayed == 0
  }

  /// Adds another count to this one, number by number.
  public static func += (total: inout SyncCounts, part: SyncCounts) {
    // Written out, for it is done at every commit, and key paths are slow.
    total.inserted += part.inserted
    total.updated += part.updated
    total.deleted += part.deleted
    total.unchanged += part.unchanged
    total.skippedOlder += part.skippedOlder
    total.skippedIncompatible += part.skippedIncompatible
    total.deferred += part.deferred
    total.quarantined += part.quarantined
    total.swept += part.swept
    total.conflicts += part.conflicts
    total.replayed += part.replayed
    total.fetched += part.fetched
    total.pages += part.pages
    total.requests += part.requests
  }

  /// Every number with its stable name, in the order in which they are shown.
  package static var names: [(name: String, path: WritableKeyPath<SyncCounts, Int>)] {
    [
      ("inserted", \.inserted), ("updated", \.updated), ("deleted", \.deleted), ("unchanged", \.unchanged),
      ("skippedOlder", \.skippedOlder), ("skippedIncompatible", \.skippedIncompatible),
      ("deferred", \.deferred), ("quarantined", \.quarantined), ("swept", \.swept),
      ("conflicts", \.conflicts), ("replayed", \.replayed), ("fetched", \.fetched), ("pages", \.pages),
      ("requests", \.requests),
    ]
  }
}
