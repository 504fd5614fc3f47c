import SyncModels

/// Decides which of several callers syncs, and which share its result or sync later.
///
/// One caller leads at a time. A caller that joins shares the running sync if that covers its
/// request. A caller that follows needs a sync that begins after its call, and so does a caller
/// that joins without being covered. When the leader is done, the waiting caller that covers most
/// of the others leads next, and those that it covers share its result.
struct FlightMachine {
  /// The decision on a new caller.
  enum Clearance: Hashable {
    case lead
    /// The caller waits, and shares the running sync or a later one.
    case wait(Int, sharesThisOne: Bool)
    case refused
  }

  /// The step of a caller that has waited.
  enum Turn: Hashable {
    /// It syncs, with these types first.
    case lead(first: [RecordType])
    /// It shares the sync that has just ended.
    case share
  }

  private struct Waiter {
    let id: Int
    let scope: SyncScope
    var isServed: Bool
  }

  private var underWay: SyncScope?
  private var nextID = 0
  /// The waiting callers, in the order of their calls.
  private var waiters: [Waiter] = []

  /// Decides on a new caller.
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

  /// Removes a caller that no longer waits.
  mutating func leave(_ id: Int) {
    waiters.removeAll { $0.id == id }
  }

  /// Ends the leader's turn, and picks the next leader.
  ///
  /// - Parameter wasStopped: Whether the leader was stopped, which leaves its work to the others.
  /// - Returns: The callers that continue, in the order of their calls, the next leader last.
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

  /// Returns the waiter that covers most of the others, the first of equals.
  private func nextLeader() -> Waiter? {
    var best: (waiter: Waiter, covered: Int)?
    for waiter in waiters {
      let covered = waiters.count { waiter.scope.covers($0.scope) }
      if covered > best?.covered ?? 0 { best = (waiter, covered) }
    }
    return best?.waiter
  }
}
