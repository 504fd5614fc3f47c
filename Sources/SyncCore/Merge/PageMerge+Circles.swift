import SyncModels
import SyncPorts

// Records of one type that refer to each other: none of them can be shown first, so they are shown
// together.
extension PageMerge {
  /// Notes which of some entries may close a circle.
  mutating func noteParked(_ entries: [WithheldChange]) {
    guard entity.refersToItself else { return }
    for entry in entries where entry.kind == .parked {
      if case .record(let id) = entry.key, entry.waitsFor.contains(where: { $0.type == id.type }) {
        parked.insert(id)
      }
    }
  }

  /// Shows parked copies that wait only for each other, around those parked just now.
  ///
  /// All of them are shown in this one transaction, however many they are: a part of them would
  /// dangle.
  ///
  /// - Returns: The records that are live now and were not before.
  mutating func showCircles(in transaction: any StoreTransaction) throws(SyncError) -> [RecordID] {
    var appeared: [RecordID] = []
    let seeds = Dictionary(grouping: parked, by: \.type).sorted { $0.key < $1.key }
    parked = []
    for (type, seeds) in seeds {
      guard let other = context.schema[type] else { continue }
      let waiting = try ParkedCircles(entity: other, transaction: transaction).find(around: Set(seeds))
      if !waiting.isEmpty { appeared += try show(waiting, of: other, in: transaction) }
    }
    return appeared
  }

  /// Shows those of some parked copies that still need only each other.
  ///
  /// The other copies wait from now on for the records that were deleted since they were parked.
  ///
  /// - Returns: The records that are live now and were not before.
  private mutating func show(
    _ waiting: Set<RecordID>, of other: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var needs = MutualNeeds()
    var outdated: [WithheldChange] = []
    var appeared: [RecordID] = []
    let portions = waiting.sorted().portions(of: MergeContext.portion)
    for ids in portions {
      let edited = Set(try transaction.outbox(for: ids).map(\.id))
      var (entries, copies): ([WithheldChange], [Record]) = ([], [])
      for entry in try transaction.withheld(for: ids.map { .record($0) }) {
        guard case .upsert(let record) = entry.lifted(by: other).change else { continue }
        entries.append(entry)
        copies.append(record)
      }
      var absent = try absent(among: targets(of: copies, of: other), in: transaction)
      if !absent.isEmpty {
        let revealed = try reveal(absent, in: transaction)
        absent.subtract(revealed)
        appeared += revealed
      }
      for (index, state) in try transaction.states(of: copies).enumerated() {
        let copy = copies[index]
        let missing = other.requiredReferences(of: copy).filter(absent.contains)
        // The merge policy decides what an edited record shows, and an older copy shows nothing. A
        // newer version of the app that shares the store may have parked a copy of its schema.
        if !edited.contains(copy.id), copy.schemaVersion <= other.schemaVersion,
          rule.outcome(ofCopy: copy.version, over: state).isVisible
        {
          needs.add(copy.id, needing: missing)
        }
        if Set(missing) != Set(entries[index].waitsFor) { outdated.append(entries[index]) }
      }
    }
    context.together = needs.complete()
    defer { context.together = [] }
    for ids in portions {
      let shown = ids.filter(context.together.contains).map { WithheldChange.Key.record($0) }
      if !shown.isEmpty { appeared += try merge(transaction.withheld(for: shown), in: transaction) }
    }
    outdated.removeAll { $0.change.id.map(context.together.contains) ?? false }
    if !outdated.isEmpty { appeared += try merge(outdated, in: transaction) }
    return appeared
  }
}
