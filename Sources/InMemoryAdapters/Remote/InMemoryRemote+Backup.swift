import SyncModels
import Synchronization

extension InMemoryRemote {
  /// The state of a remote at one instant, with what it remembers of pushes.
  package struct Backup: Sendable {
    fileprivate var collections: [RecordType: RemoteCollection]
    fileprivate var pushes: PushLedger
  }

  /// Returns the present state, to restore it later.
  package func backUp() -> Backup {
    state.withLock { Backup(collections: $0.collections, pushes: $0.pushes) }
  }

  /// Goes back to an earlier state. Later changes are lost, and their numbers are given out again.
  ///
  /// - Parameter isTold: Whether tokens show that the remote was replaced. Otherwise those of times stay
  ///   valid.
  package func restore(_ backup: Backup, isTold: Bool) {
    state.withLock { state in
      for type in Set(state.collections.keys).union(backup.collections.keys) {
        let former = backup.collections[type] ?? RemoteCollection(configuration)
        state.collections[type, default: RemoteCollection(configuration)].restore(former, isTold: isTold)
      }
      state.snapshots = [:]
      state.lastPages = [:]
      state.pushes.restore(backup.pushes)
    }
  }
}
