import SyncModels
import SyncPorts

/// Carries out held deletions of records to which only each other refer.
struct HeldCircles: Sendable {
  var entity: Entity
  var context: MergeContext

  /// Deletes the records, all in this one transaction.
  ///
  /// Deleting a part of them would leave dangling references.
  ///
  /// - Returns: The tally, and the records that were deleted.
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

  /// Returns the records that no other record refers to once all of them are deleted.
  private func together(
    by merge: PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    let candidates = try candidates(by: merge, in: transaction)
    var needs = MutualNeeds()
    for id in candidates { needs.add(id) }
    // The own type comes first: without a circle there, other types need no query.
    let columns = context.schema.referrers(to: entity.type)
    let ownFirst = columns.filter { $0.type == entity.type } + columns.filter { $0.type != entity.type }
    for (type, field) in ownFirst {
      for ids in needs.complete().sorted().portions(of: MergeContext.portion) {
        try addReferrers(of: type, by: field, to: ids, amongst: candidates, into: &needs, in: transaction)
      }
    }
    return needs.complete()
  }

  /// Returns the held deletions that would delete their records if those were unreferenced.
  private func candidates(
    by merge: PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    var candidates: Set<RecordID> = []
    var portions = transaction.portions(withheld: entity.type, [.held])
    while let entries = try portions.next() {
      let tombstones = entries.compactMap {
        if case .tombstone(let tombstone) = $0.change { tombstone } else { nil }
      }
      let edits = try merge.pendingEdits(of: tombstones.map(\.id), in: transaction)
      for (tombstone, state) in zip(tombstones, try transaction.states(of: tombstones)) {
        let goes =
          if let edit = edits[tombstone.id] { merge.deletes(tombstone, edit) } else {
            merge.rule.outcome(of: tombstone, over: state) == .deleted
          }
        if goes { candidates.insert(tombstone.id) }
      }
    }
    return candidates
  }

  /// Adds the live records that refer to some of the candidates by a field.
  ///
  /// It adds all that are candidates themselves, and one of the others.
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
        // A referrer that stays is decisive; further referrers of the same record are not read.
        if !candidates.contains(referrer.id) { sought.remove(target) }
      }
      guard referrers.count == MergeContext.portion, let end = referrers.last else { return }
      last = end.id.key
    }
  }
}
