import SyncModels
import SyncPorts

/// Removes records that a complete listing lacked, in bounded transactions.
struct Sweep: Sendable {
  var entity: Entity
  var context: MergeContext
  /// The complete listing, and the previous one with a completed sweep; 0 for none.
  var pass: Int64
  var passBefore: Int64
  var absence: Absence
  /// Whether the remote shows each deletion by itself, so that a listing finds none.
  var showsDeletions: Bool

  /// The proof that a record is gone.
  enum Absence: Sendable {
    /// One listing, as it describes one instant.
    case once
    /// Two listings in succession, as the collection changes during a listing.
    case twice
    /// A lookup at the remote.
    case lookedUp
  }

  /// Removes one portion of the unlisted records.
  ///
  /// - Parameter answer: The records that were looked up, and those that the remote still has;
  ///   `nil` without a lookup.
  func portion(
    after key: String?, answer: (asked: [RecordID], present: [RecordChange])?,
    in transaction: any StoreTransaction
  ) throws(SyncError) -> Portion<String> {
    var result = Portion<String>()
    var candidates = try transaction.portion(unmarked: entity.type, after: key)
    result.end = candidates.last?.id.key
    if let answer {
      let present = Set(answer.present.compactMap(\.id))
      let absent = Set(answer.asked).subtracting(present)
      candidates.removeAll { !absent.contains($0.id) }
      var merge = PageMerge(entity, context: context)
      merge.tally.noteAnswers(of: entity.type, count: answer.present.count)
      try merge.mergeAndRelease(answer.present.map { Incoming($0) }, in: transaction)
      try ArrivedDuplicates.remember(merge.tally.changed, of: context.schema, in: transaction)
      result.tally = merge.tally
    }
    guard !candidates.isEmpty else { return result }
    let entries = try transaction.withheld(for: candidates.map { .record($0.id) })
    // A live record with a withheld change has no room for a note that it was missed. The change's
    // own pass shows that.
    let missed = Set(entries.filter { isMissedBefore($0) }.compactMap(\.change.id))
    let withheld = Set(entries.filter { $0.kind != .missing && !isMissedBefore($0) }.compactMap(\.change.id))
    // What other credentials had listed is none of theirs.
    let epoch = absence == .twice ? try SourceExchange.epoch(of: entity.type, in: transaction) : nil
    let isGone = { (candidate: Tombstone) in
      missed.contains(candidate.id) || candidate.version.isBefore(epoch) && !withheld.contains(candidate.id)
    }
    let gone = absence == .twice ? candidates.filter(isGone) : candidates
    if absence == .twice {
      let first = candidates.filter { !isGone($0) && !withheld.contains($0.id) }
      if !first.isEmpty { try transaction.withhold(first.map(context.missing)) }
      // What the listing has lacked as it moves comes back with the next one.
      if gone.contains(where: { !missed.contains($0.id) }) {
        try ListingGap.demandListing(of: entity.type, in: transaction)
      }
    }
    try remove(gone, withheld: withheld, &result, in: transaction)
    return result
  }

  private func remove(
    _ gone: [Tombstone], withheld: Set<RecordID>, _ result: inout Portion<String>,
    in transaction: any StoreTransaction
  ) throws(SyncError) {
    let referenced =
      context.schema.referrers(to: entity.type).isEmpty
      ? [] : try transaction.referenced(among: gone.map(\.id), by: context.schema)
    let held = gone.filter { referenced.contains($0.id) && !withheld.contains($0.id) }
    if !held.isEmpty {
      try transaction.withhold(held.map(context.heldAfterSweep))
      // The remote has the values of these no more, although they are shown here.
      result.tally.noteFreed(entity.type)
    }
    let removable = gone.filter { !referenced.contains($0.id) }
    guard !removable.isEmpty else { return }
    try transaction.release(removable.map { .record($0.id) })
    try transaction.delete(removable)
    for tombstone in removable { result.tally.noteSwept(tombstone.id) }
    result.ids = removable.map(\.id)
  }

  /// Releases one portion of the withheld changes from before the listing that it lacked.
  func forgetUnlisted(
    after key: WithheldChange.Key?, in transaction: any StoreTransaction
  ) throws(SyncError) -> Portion<WithheldChange.Key> {
    let entries = try transaction.portion(withheld: entity.type, Self.forgettable, after: key)
    let gone = entries.filter { isUnlisted($0) }
    var portion = Portion(end: entries.last?.key)
    if !gone.isEmpty {
      try transaction.release(gone.map(\.key))
      portion.tally.noteFreed(entity.type)
    }
    return portion
  }

  private func isMissedBefore(_ entry: WithheldChange) -> Bool {
    entry.kind == .missing ? entry.pass < pass : Self.forgettable.contains(entry.kind) && isUnlisted(entry)
  }

  /// Whether this listing lacked a record that a second listing has to lack too.
  ///
  /// A record with a pending edit does not count: the push finds out its remote state.
  func isAnythingInDoubt(in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    guard absence != .once else { return false }
    var portions = snapshot.portions(withheld: entity.type, Self.forgettable.union([.missing]))
    while let entries = try portions.next() {
      if entries.contains(where: { $0.kind != .missing && $0.pass < pass }) { return true }
      let missing = entries.filter { $0.kind == .missing }.compactMap(\.change.id)
      if try missing.count > snapshot.outbox(for: missing).count { return true }
    }
    return false
  }

  /// The kinds of withheld changes without a live record that would be swept instead.
  static let forgettable: Set<WithheldChange.Kind> = [.parked, .incompatible, .quarantined, .hidden]

  /// Whether the listing lacked a withheld change.
  ///
  /// If one listing is no proof, the previous one must have lacked it too.
  func isUnlisted(_ entry: WithheldChange) -> Bool {
    entry.pass < (absence == .once ? pass : min(pass, passBefore))
  }
}

extension MergeContext {
  /// Returns the entry of a deletion that a sweep found, not counted yet.
  fileprivate func heldAfterSweep(_ tombstone: Tombstone) -> WithheldChange {
    var entry = held(tombstone, origin: .page)
    entry.finder = .store
    return entry
  }
}

extension StoreTransaction {
  /// Forgets the notes that a listing lacked some records.
  func forgetAbsence(of ids: [RecordID]) throws(SyncError) {
    let notes = try withheld(for: ids.map { .record($0) }).filter { $0.kind == .missing }
    if !notes.isEmpty { try release(notes.map(\.key)) }
  }
}
