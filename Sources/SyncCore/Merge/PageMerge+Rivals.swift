import SyncModels
import SyncPorts

// A listing of one instant may hold an id twice. The copy written last is shown, and the other one is kept, with the
// reason, where it can be found.
extension PageMerge {
  /// Whether the row is from the same listing, and is another copy.
  ///
  /// A row that lost its edit during the listing may be marked and from before it. Whether it is nobody can tell, and everything is listed again
  /// at once: that listing finds the rivals.
  func isRival(
    of stored: StoredState?, origin: Incoming.Origin, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    guard let stored, origin.isPage, listsOneInstant, stored.isMarked, !stored.isDeleted,
      !stored.hasSamePayload
    else { return false }
    return try ListingGap.of(entity.type, in: transaction) != .exposed
  }

  /// Whether a copy that had to be set aside is from the same listing, and is another copy.
  func isRival(_ record: Record, of entry: WithheldChange) -> Bool {
    guard listsOneInstant, entry.kind == .parked || entry.kind == .staged, entry.pass == context.pass,
      case .upsert(let other) = entry.change
    else { return false }
    return other.payload != record.payload
  }

  var listsOneInstant: Bool { context.isSnapshot && context.coverage == .everything }

  /// Keeps the row that a later copy of the same listing takes the place of.
  mutating func replaceRival(
    by record: Record, _ stored: StoredState, into batch: inout Batch, in transaction: any StoreTransaction
  ) throws(SyncError) {
    if let loser = try transaction.records(withIDs: [record.id]).first ?? nil {
      quarantineRival(loser, into: &batch)
    }
    // Scans write what has changed alone: a row of an earlier scan was counted as unchanged, and is changed now.
    if context.versionOrder == .perScan, stored.version.sequence < record.version.sequence {
      tally.retractUnchanged(entity.type)
      note(.updated, of: record.id, origin: .page)
    }
  }

  /// Keeps the one of two records with one id that is not shown.
  ///
  /// - Parameter entry: As what it was set aside and counted until now, if it was.
  mutating func quarantineRival(
    _ loser: Record, insteadOf entry: WithheldChange? = nil, into batch: inout Batch
  ) {
    let malformed = MalformedRecord(
      type: entity.type, key: loser.id.key, bytes: loser.payload.detached(),
      reason: "another record of the same listing has this id, and the one written last is shown")
    batch.withheld.append(context.quarantine(malformed, at: .bytes(of: malformed)))
    if let entry {
      tally.note(malformed, insteadOf: entry, fence: context.fence)
    } else {
      tally.note(malformed)
    }
  }
}
