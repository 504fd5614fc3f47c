public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// Something that a remote does wrong, or oddly, with a batch of edits.
  public enum PushBehaviour: Sendable {
    /// The request fails before anything is done.
    case fail(SyncError)
    /// So many of the batch's first changes are applied, all by default, and the answer is lost: the request fails.
    case loseAnswer(afterApplying: Int = .max, SyncError)
    /// Nothing is done until ``InMemoryRemote/releaseHanging()`` or the task's cancellation.
    case hang
    /// All is done, and no answer comes until ``InMemoryRemote/releaseHanging()`` or the task's cancellation.
    case hangAfterEffect
  }

  /// What a remote says to any edit of one record, whatever it is.
  public enum PushRuling: Hashable, Sendable {
    /// It will not have it, for this reason.
    case refused(reason: String)
    /// Not now.
    case retryLater(after: Duration?)
  }

  /// Scripts a behaviour for some batches, counted from 1 since the remote was made.
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

  /// Forgets the script of pushes; rulings and the quota stay.
  public func takePushesWell() {
    state.withLock { $0.pushes.script = [] }
  }

  /// How many scripted behaviours of pushes have yet to be seen for the last time.
  public var unplayedPushBehaviours: Int {
    state.withLock { state in
      state.pushes.script.count { state.pushes.counters.requests < $0.batches.upperBound }
    }
  }

  /// Says from now on the same to every edit of a record, or takes that back.
  public func rule(_ ruling: PushRuling?, on type: RecordType, _ key: String) {
    state.withLock { $0.pushes.rulings[RecordID(type: type, key: key)] = ruling }
  }

  /// How many records of all types together there is room for, where pushed ones are concerned; `nil` for no limit.
  ///
  /// A push that would add one more is answered with `quotaExceeded`; edits of records that exist, and deletions, are not.
  public var recordQuota: Int? {
    get { state.withLock { $0.pushes.recordQuota } }
    set { state.withLock { $0.pushes.recordQuota = newValue } }
  }
}
