import SyncModels
import SyncPorts

extension Sweep {
  /// Plans the sweep after a complete listing, which is the context's pass.
  ///
  /// The source's kind of listing decides how absence is confirmed.
  init(_ entity: Entity, context: MergeContext, passBefore: Int64, capabilities: SourceCapabilities) {
    let absence: Absence =
      switch capabilities.listing {
      case .snapshot: .once
      case .moving: capabilities.supportsLookup ? .lookedUp : .twice
      }
    self.init(
      entity: entity, context: context, pass: context.pass, passBefore: passBefore, absence: absence,
      showsDeletions: capabilities.deltas == .changeTokens && capabilities.sendsTombstones)
  }

  /// Removes all unlisted records, portion by portion, in this one transaction.
  ///
  /// Deletions of records to which live records of other types refer are held.
  ///
  /// - Parameter confirmed: The records that the remote does not have, by lookup; `nil` without a
  ///   lookup.
  func removeAll(
    confirmed: Set<RecordID>?, in transaction: any StoreTransaction
  ) throws(SyncError) -> [Tally] {
    var tallies: [Tally] = []
    var rounds = DwindlingRounds()
    // A record to which only records of its own type refer is removed after those.
    repeat {
      var last: String?
      repeat {
        let portion = try portion(
          after: last, answer: confirmed.map { (asked: Array($0), present: []) }, in: transaction)
        if !portion.tally.changed.isEmpty || !portion.tally.freed.isEmpty { tallies.append(portion.tally) }
        rounds.note(portion.ids)
        last = portion.end
      } while last != nil
      let circles = try HeldCircles(entity: entity, context: context).release(in: transaction)
      if !circles.tally.changed.isEmpty { tallies.append(circles.tally) }
      rounds.note(circles.deleted)
    } while try rounds.end()
    var last: WithheldChange.Key?
    repeat {
      let portion = try forgetUnlisted(after: last, in: transaction)
      if !portion.tally.freed.isEmpty { tallies.append(portion.tally) }
      last = portion.end
    } while last != nil
    return tallies
  }
}
