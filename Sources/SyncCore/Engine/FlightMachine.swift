import SyncModels

/// Decides which of several callers syncs, which of them share its result, and which go on after it.
///
/// One leads at a time. A caller that joins shares the sync under way if that covers what it asks for. One that follows
/// needs a sync that begins after it has come, and so does one that joins and is not covered. When the leader is through,
/// the waiting caller that covers most of the others leads next, and those that it covers share its result.
struct FlightMachine {
  /// What becomes of a caller that has just come.
  enum Clearance: Hashable {
    case lead
    /// It waits; it has a share in the sync under way, or in a later one.
    case wait(Int, sharesThisOne: Bool)
    case refused
  }

  /// What a caller that waited does now.
  enum Turn: Hashable {
    /// It syncs, with these types first.
    case lead(first: [RecordType])
    /// The sync that has just ended was its own, too.
    case share
  }

  private struct Waiter {
    let id: Int
    let scope: SyncScope
    var isServed: Bool
  }

  private var underWay: SyncScope?
  private var nextID = 0
  /// In the order in which they came.
  private var waiters: [Waiter] = []

  /// Takes a caller on.
  mutating func arrive(_ scope: SyncScope, ifBusy: SyncRequest.Busy) -> Clearance {
    guard let underWay else {
      underWay = scope
      return .lead
    }
    guard ifBusy != .refuse else { return .refused }
    nextID += 1
    let isServed = ifBusy == .join && underWay.covers(scope)
    waiters.append(Waiter(id: nextID, scope: scope, isServed: isServed))
    return .wait(nextID, sharesThisOne: isServed)
  }

  /// Forgets a caller that no longer waits.
  mutating func leave(_ id: Int) {
    waiters.removeAll { $0.id == id }
  }

  /// The leader is through; its place is free, or another's.
  ///
  /// - Parameter wasStopped: Whether it was stopped, which leaves its work to the others.
  /// - Returns: Who goes on, in the order in which they came, the next leader last.
  mutating func landed(wasStopped: Bool) -> [(id: Int, turn: Turn)] {
    var turns: [(id: Int, turn: Turn)] = []
    if !wasStopped {
      turns = waiters.filter(\.isServed).map { ($0.id, .share) }
      waiters.removeAll(where: \.isServed)
    }
    underWay = nil
    guard let leader = nextLeader() else { return turns }
    leave(leader.id)
    underWay = leader.scope
    var first = leader.scope.first
    for index in waiters.indices {
      let scope = waiters[index].scope
      waiters[index].isServed = leader.scope.covers(scope)
      if waiters[index].isServed { first += scope.first.filter { !first.contains($0) } }
    }
    return turns + [(leader.id, .lead(first: first))]
  }

  /// The one that covers most of the others, the first of equals.
  private func nextLeader() -> Waiter? {
    var best: (waiter: Waiter, covered: Int)?
    for waiter in waiters {
      let covered = waiters.count { waiter.scope.covers($0.scope) }
      if covered > best?.covered ?? 0 { best = (waiter, covered) }
    }
    return best?.waiter
  }
}
