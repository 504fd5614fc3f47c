/// The numbers of a sync's fetched changes, each counted once by its final outcome.
///
/// ``fetched`` equals the sum of the outcomes less ``swept``: a sweep deletes records that
/// were *not* fetched.
public struct SyncCounts: Hashable, Sendable, Codable {
  /// Records that are new in the store.
  public var inserted = 0
  /// Records replaced by a newer copy.
  public var updated = 0
  /// Records removed, by a tombstone or by a sweep.
  public var deleted = 0
  /// Copies that the store already had.
  public var unchanged = 0
  /// Copies older than what the store has.
  public var skippedOlder = 0
  /// Records of a newer schema than the app understands, withheld.
  public var skippedIncompatible = 0
  /// Withheld changes that wait.
  ///
  /// They wait for a record that they refer to, for records that refer to them, or for the
  /// publication of the whole type.
  public var deferred = 0
  /// Malformed records, withheld with the reason.
  public var quarantined = 0

  /// The part of ``deleted`` that a sweep removed because a complete listing lacked it.
  public var swept = 0
  /// Edits that met a different change at the remote; counted apart from the outcomes.
  public var conflicts = 0
  /// Changes that this sync made of no fetched change; counted apart from the outcomes.
  ///
  /// Most of them are withheld changes of earlier syncs that this one applied. Live records that a
  /// changed declaration withholds count too, and so do records that change because duplicates
  /// collapse.
  public var replayed = 0
  /// Changes that the remote sent.
  public var fetched = 0
  /// Committed pages with changes. An empty answer is a request, not a page.
  public var pages = 0
  /// Requests made to the remote, retries included.
  public var requests = 0

  /// Creates counts of zero.
  public init() {}

  /// The sum of the outcomes.
  public var outcomes: Int {
    inserted + updated + deleted + unchanged + skippedOlder + skippedIncompatible + deferred + quarantined
  }

  /// Whether readers see no change.
  public var isEmpty: Bool {
    inserted == 0 && updated == 0 && deleted == 0 && replayed == 0
  }

  /// Adds other counts to these, number by number.
  public static func += (total: inout SyncCounts, part: SyncCounts) {
    // Spelled out: every commit runs this, and key paths are slow.
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

  /// A number with its stable name.
  package typealias Named = (name: String, value: @Sendable (SyncCounts) -> Int)

  /// The outcomes with their stable names, in display order.
  package static var outcomes: [Named] {
    // Closures, because every sync notes its counts in the store, and key paths are slow.
    [
      ("inserted", { $0.inserted }), ("updated", { $0.updated }), ("deleted", { $0.deleted }),
      ("unchanged", { $0.unchanged }), ("skippedOlder", { $0.skippedOlder }),
      ("skippedIncompatible", { $0.skippedIncompatible }), ("deferred", { $0.deferred }),
      ("quarantined", { $0.quarantined }),
    ]
  }

  /// Every number with its stable name, in display order.
  package static var names: [Named] {
    let others: [Named] = [
      ("swept", { $0.swept }), ("conflicts", { $0.conflicts }), ("replayed", { $0.replayed }),
      ("fetched", { $0.fetched }), ("pages", { $0.pages }), ("requests", { $0.requests }),
    ]
    return outcomes + others
  }
}
