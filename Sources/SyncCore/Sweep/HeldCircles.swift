import SyncModels
import SyncPorts

/// Carries out deletions that are held because the records refer to each other, and to which nothing else refers.
struct HeldCircles: Sendable {
  var entity: Entity
  var context: MergeContext

  /// Deletes them, however many they are, in this one transaction: a part of them would leave the others dangling.
  ///
  /// - Returns: What was done, and the records that were deleted.
  /// - Complexity: O(*h* log *m*) for *h* held deletions in a type of *m* records.
  func release(
    in transaction: any StoreTransaction
  ) throws(SyncError) -> (tally: Tally, deleted: [RecordID]) {
    var merge = PageMerge(entity, context: context.forRelease(markPass: nil))
    guard entity.refersToItself else { return (merge.tally, []) }
    merge.context.together = try together(by: merge, in: transaction)
    let sorted = merge.context.together.sorted()
    for ids in sorted.portions(of: MergeContext.portion) {
      try merge.release(transaction.withheld(for: ids.map { .record($0) }), in: transaction)
    }
    return (merge.tally, merge.tally.changed.isEmpty ? [] : sorted)
  }

  /// The records that nothing refers to once they are all deleted.
  private func together(
    by merge: PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    let candidates = try candidates(by: merge, in: transaction)
    var needs = MutualNeeds()
    for id in candidates { needs.add(id) }
    // Its own type first: where that is no circle already, no other type has to be asked.
    let columns = context.schema.referrers(to: entity.type)
    let ownFirst = columns.filter { $0.type == entity.type } + columns.filter { $0.type != entity.type }
    for (type, field) in ownFirst {
      for ids in needs.complete().sorted().portions(of: MergeContext.portion) {
        try addReferrers(of: type, by: field, to: ids, amongst: candidates, into: &needs, in: transaction)
      }
    }
    return needs.complete()
  }

  /// The held deletions that would delete their records if nothing referred to them.
  private func candidates(
    by merge: PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    var candidates: Set<RecordID> = []
    var last: WithheldChange.Key?
    while true {
      let entries = try transaction.portion(withheld: entity.type, [.held], after: last)
      guard let end = entries.last else { return candidates }
      last = end.key
      let tombstones = entries.compactMap {
        if case .tombstone(let tombstone) = $0.change { tombstone } else { nil }
      }
      let edits = try merge.pendingEdits(of: tombstones.map(\.id), in: transaction)
      for (tombstone, state) in zip(tombstones, try transaction.states(of: tombstones)) {
        let goes =
          if let edit = edits[tombstone.id] { merge.deletes(tombstone, edit) } else {
            merge.rule.fate(of: tombstone, over: state) == .deleted
          }
        if goes { candidates.insert(tombstone.id) }
      }
    }
  }

  /// Adds the live records that refer to some of the candidates by a field: all that are candidates, and one of the others.
  private func addReferrers(
    of type: RecordType, by field: FieldName, to ids: [RecordID], amongst candidates: Set<RecordID>,
    into needs: inout MutualNeeds, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard let index = context.schema[type]?.fields.firstIndex(of: field) else { return }
    var sought = Set(ids)
    var last: String?
    while !sought.isEmpty {
      let keys = sought.sorted().map { FieldValue.string($0.key) }
      let referrers = try transaction.portion(
        of: Query(type, where: .isIn(field, keys), afterKey: last, limit: MergeContext.portion))
      for referrer in referrers {
        guard case .string(let key)? = referrer.fields.element(at: index) else { continue }
        let target = RecordID(type: entity.type, key: key)
        needs.add(target, needing: [referrer.id])
        // A record that stays settles it; the others that refer to the same are not read.
        if !candidates.contains(referrer.id) { sought.remove(target) }
      }
      guard referrers.count == MergeContext.portion, let end = referrers.last else { return }
      last = end.id.key
    }
  }
}
