import SyncConformance
import SyncPorts
import Synchronization

/// A cancellation token that breaks one promise.
final class FlawedToken: CancellationToken {
  enum Flaw: CaseIterable, Sendable {
    case isCancelledByReading, isNeverCancelled, tellsOnce, changesWithEachCall, tellsOneTask

    var check: CancellationTokenCheck {
      switch self {
      case .isCancelledByReading: .isNotCancelledByBeingRead
      case .isNeverCancelled: .tellsOfItsCancellation
      case .tellsOnce, .changesWithEachCall: .staysCancelled
      case .tellsOneTask: .isReadFromAnyThread
      }
    }
  }

  private struct State {
    var isCancelled = false
    var readings = 0
    /// The task that has cancelled the token.
    var task: Int?
  }

  private let flaw: Flaw
  private let state = Mutex(State())

  init(_ flaw: Flaw) { self.flaw = flaw }

  private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  var isCancelled: Bool {
    state.withLock { state in
      state.readings += 1
      switch flaw {
      case .isCancelledByReading: return state.readings > 100
      case .isNeverCancelled: return false
      case .tellsOneTask: return state.isCancelled && state.task == Self.task
      case .tellsOnce:
        defer { state.isCancelled = false }
        return state.isCancelled
      case .changesWithEachCall: return state.isCancelled
      }
    }
  }

  func cancel() {
    state.withLock { state in
      state.isCancelled = flaw == .changesWithEachCall ? !state.isCancelled : true
      state.task = Self.task
    }
  }
}
