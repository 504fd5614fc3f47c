import SyncModels
import SyncPorts

/// Finds parked copies of one type that wait only for each other.
///
/// A circle closes in the transaction that parks one of its copies, so the search starts from
/// those. One walk follows what they wait for, another one follows what waits for them, in turns. A
/// circle lies on both ways, so the walk that ends first has found all of it. A long chain is long
/// on one side only.
struct ParkedCircles {
  let entity: Entity
  let transaction: any StoreTransaction

  /// Returns the records whose copies need only each other, according to the entries.
  ///
  /// - Parameter seeds: Records whose copies this transaction has parked, and may have shown since.
  /// - Complexity: O(*k*) lookups for *k* copies on the shorter side of the seeds.
  func find(around seeds: Set<RecordID>) throws(SyncError) -> Set<RecordID> {
    var (ahead, behind) = (Walk(), Walk())
    for entry in try parked(seeds) {
      ahead.meet(entry, goingOnTo: entry.waitsFor)
      behind.meet(entry, goingOnTo: [entry.id])
    }
    var knowsAllBehind = true
    while true {
      guard let targets = ahead.next() else { return ahead.needs.complete() }
      for entry in try parked(targets) { ahead.meet(entry, goingOnTo: entry.waitsFor) }
      guard knowsAllBehind else { continue }
      guard let waitedFor = behind.next() else { return behind.needs.complete() }
      let waiting = try transaction.parked(waitingFor: waitedFor, limit: Self.waitingAtOnce)
      for entry in waiting.compactMap(entry) { behind.meet(entry, goingOnTo: [entry.id]) }
      // If there may be more entries, only the walk ahead is sure to end.
      knowsAllBehind = waiting.count < Self.waitingAtOnce
    }
  }

  private static let waitingAtOnce = 4 * MergeContext.portion

  private struct Entry {
    var id: RecordID
    var waitsFor: [RecordID]
  }

  private func parked(_ ids: some Collection<RecordID>) throws(SyncError) -> [Entry] {
    try transaction.withheld(for: ids.map { .record($0) }).compactMap(entry)
  }

  /// Returns what an entry adds to a walk.
  ///
  /// `nil` unless it waits only for records of its own type.
  private func entry(_ entry: WithheldChange) -> Entry? {
    guard case .record(let id) = entry.key, entry.kind == .parked, id.type == entity.type,
      entry.waitsFor.allSatisfy({ $0.type == entity.type })
    else { return nil }
    return Entry(id: id, waitsFor: entry.waitsFor)
  }

  /// One walk over parked copies, with the rest of its way.
  private struct Walk {
    private(set) var needs = MutualNeeds()
    private var known: Set<RecordID> = []
    private var frontier: [RecordID] = []

    mutating func meet(_ entry: Entry, goingOnTo places: [RecordID]) {
      guard !needs.contains(entry.id) else { return }
      needs.add(entry.id, needing: entry.waitsFor)
      frontier += places.filter { known.insert($0).inserted }
    }

    /// Returns the next records of the walk; `nil` at its end.
    mutating func next() -> [RecordID]? {
      guard !frontier.isEmpty else { return nil }
      let portion = Array(frontier.suffix(MergeContext.portion))
      frontier.removeLast(portion.count)
      return portion
    }
  }
}

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
