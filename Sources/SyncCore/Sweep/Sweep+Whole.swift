import SyncModels
import SyncPorts

extension Sweep {
  /// Plans a sweep after a complete listing, the pass of the context, as the source's listings call for it.
  init(_ entity: Entity, context: MergeContext, passBefore: Int64, capabilities: SourceCapabilities) {
    let absence: Absence =
      switch capabilities.listing {
      case .snapshot: .once
      case .moving: capabilities.supportsLookup ? .lookedUp : .twice
      }
    self.init(
      entity: entity, context: context, pass: context.pass, passBefore: passBefore, absence: absence)
  }

  /// Removes all that was not listed, portion by portion, in this one transaction.
  ///
  /// What live records of other types refer to is held.
  ///
  /// - Parameter confirmed: The records of which the remote said that it does not have them; `nil` where it was not asked.
  func removeAll(
    confirmed: Set<RecordID>?, in transaction: any StoreTransaction
  ) throws(SyncError) -> [Tally] {
    #if MUTANTS
      if Mutant.sweepNever.isActive { return [] }
    #endif
    var tallies: [Tally] = []
    var rounds = DwindlingRounds()
    // A record that only its like refers to goes once those are gone.
    repeat {
      var last: String?
      repeat {
        let portion = try portion(
          after: last, answer: confirmed.map { (asked: Array($0), present: []) }, in: transaction)
        if !portion.tally.changed.isEmpty { tallies.append(portion.tally) }
        rounds.note(portion.removed)
        last = portion.lastKey
      } while last != nil
      let circles = try HeldCircles(entity: entity, context: context).release(in: transaction)
      if !circles.tally.changed.isEmpty { tallies.append(circles.tally) }
      rounds.note(circles.deleted)
    } while try rounds.end()
    var last: WithheldChange.Key?
    repeat { last = try forgetUnlisted(after: last, in: transaction) } while last != nil
    return tallies
  }
}
