import SyncModels
import SyncPorts
import Synchronization

/// Compares what a store tells its observers with the commits of a world.
final class ObserverWatch: Sendable {
  private struct State {
    /// The position after which the next query begins; `nil` before the first one.
    var position: StorePosition?
    /// The records that each commit since then has changed, oldest first.
    var commits: [Set<RecordID>] = []
    /// The number of earlier commits, which observers have been told of.
    var toldCommits = 0
  }
  private let state = Mutex(State())

  /// What observers were told, and the number of commits that it has to cover.
  struct Told: Sendable {
    fileprivate var changes: CommittedChanges
    fileprivate var commits: Int
  }

  /// Reads the changes since the last query, as an observer does.
  func read(_ snapshot: any StoreSnapshot) throws(SyncError) -> Told {
    let (position, commits) = state.withLock { ($0.position, $0.toldCommits + $0.commits.count) }
    return Told(changes: try snapshot.changes(after: position), commits: commits)
  }

  /// The changed records that observers were not told of, in order.
  func untold(_ told: Told) -> [RecordID] {
    state.withLock { state in
      let covered = max(0, told.commits - state.toldCommits)
      let changed = state.commits.prefix(covered).reduce(into: Set<RecordID>()) { $0.formUnion($1) }
      state.commits.removeFirst(covered)
      state.toldCommits += covered
      let isFirst = state.position == nil
      state.position = max(state.position ?? told.changes.position, told.changes.position)
      guard case .records(let ids) = told.changes.scope, !isFirst else { return [] }
      return changed.subtracting(ids).sorted()
    }
  }

  /// Notes the records whose content a commit has changed.
  func committed(_ ids: some Sequence<RecordID>) {
    state.withLock { $0.commits.append(Set(ids)) }
  }
}
