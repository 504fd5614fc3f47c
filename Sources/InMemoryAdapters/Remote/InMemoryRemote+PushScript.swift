public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// A fault or an unusual behaviour for a batch of edits.
  public enum PushBehaviour: Sendable {
    /// The request fails without any effect.
    case fail(SyncError)
    /// The first changes are applied, by default all, and then the request fails.
    ///
    /// The answer is lost.
    case loseAnswer(afterApplying: Int = .max, SyncError)
    /// The batch waits for ``InMemoryRemote/releaseHanging()`` or the task's cancellation.
    ///
    /// Nothing is applied before.
    case hang
    /// All changes are applied, and the answer hangs.
    ///
    /// It hangs until ``InMemoryRemote/releaseHanging()`` or the task's cancellation.
    case hangAfterEffect
  }

  /// A remote's fixed answer to every edit of one record.
  public enum PushRuling: Hashable, Sendable {
    /// The edit is rejected with this reason.
    case refused(reason: String)
    /// The edit is postponed.
    case retryLater(after: Duration?)
  }

  /// Scripts a behaviour for some batches, counted from 1 since the remote was created.
  public func behave(_ behaviour: PushBehaviour, onPushes batches: ClosedRange<Int>) {
    state.withLock { $0.pushes.script.append((behaviour, batches)) }
  }

  /// Scripts a behaviour for the next batches.
  public func behave(_ behaviour: PushBehaviour, onNextPushes count: Int) {
    guard count > 0 else { return }
    state.withLock { state in
      let made = state.pushes.counters.requests
      let (last, isEndless) = made.addingReportingOverflow(count)
      state.pushes.script.append((behaviour, made + 1...(isEndless ? .max : last)))
    }
  }

  /// Removes the script of pushes; rulings and the quota stay.
  public func takePushesWell() {
    state.withLock { $0.pushes.script = [] }
  }

  /// The number of scripted behaviours that still apply to future pushes.
  public var unplayedPushBehaviours: Int {
    state.withLock { state in
      state.pushes.script.count { state.pushes.counters.requests < $0.batches.upperBound }
    }
  }

  /// Sets the answer to all edits of a record; `nil` removes it.
  public func rule(_ ruling: PushRuling?, on type: RecordType, _ key: String) {
    state.withLock { $0.pushes.rulings[RecordID(type: type, key: key)] = ruling }
  }

  /// The most records of all types together that pushes may reach; `nil` for no limit.
  ///
  /// A push that would add one more gets `quotaExceeded`. Edits of existing records, and deletions,
  /// are accepted.
  public var recordQuota: Int? {
    get { state.withLock { $0.pushes.recordQuota } }
    set { state.withLock { $0.pushes.recordQuota = newValue } }
  }
}
