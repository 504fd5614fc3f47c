import SyncModels
import SyncPorts

/// A gap in a type's complete listing, caused by pending edits.
///
/// A record with a pending edit counts as listed: the push finds out its remote state. Some edits
/// leave a gap. An edit that is discarded, or that meets a copy from before the listing, is never
/// pushed. An edit that the remote accepted before the listing, with its answer lost, is reported
/// in the state of that time. The record's remote state would then stay unknown until the next
/// complete listing, so that listing is due at once.
enum ListingGap: UInt8 {
  /// Records with pending edits counted as listed.
  case open
  /// One of these records has lost its edit, and may show an outdated copy.
  case exposed
  /// Records counted as listed, and one of their edits was sent before without an answer.
  case unanswered

  /// Notes that records count as listed, unless a more severe gap is known.
  static func open(
    for type: RecordType, isUnanswered: Bool = false, in transaction: any StoreTransaction
  ) throws(SyncError) {
    let known = try of(type, in: transaction)
    if isUnanswered, known != .exposed {
      try unanswered.save(for: type, in: transaction)
    } else if known == nil {
      try open.save(for: type, in: transaction)
    }
  }

  /// Notes that a record has lost its edit and shows an old copy.
  static func expose(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if let known = try of(type, in: transaction), known != .exposed {
      try exposed.save(for: type, in: transaction)
    }
  }

  /// Makes a complete listing due at once, because the last one was believed without a second one.
  static func demandListing(of type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try exposed.save(for: type, in: transaction)
  }

  /// Notes that the remote accepted an edit that was sent before the listing.
  ///
  /// Its answer may describe a state from before the listing.
  static func answered(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try of(type, in: transaction) == .unanswered { try exposed.save(for: type, in: transaction) }
  }

  /// Removes the gap of earlier listings, as the next one begins.
  static func close(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try of(type, in: transaction) != nil { try transaction.remove(key(type)) }
  }

  /// Returns the gap of a type's last complete listing; `nil` for none.
  static func of(_ type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> ListingGap? {
    try snapshot.value(of: key(type))
  }

  private func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key(type))
  }

  private static func key(_ type: RecordType) -> ValueKey<ListingGap> {
    ValueKey(.listingGaps, type.rawValue)
  }
}
