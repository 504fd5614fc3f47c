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
