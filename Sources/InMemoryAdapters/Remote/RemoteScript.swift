public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// A fault or an unusual behaviour for a request.
  public enum Behaviour: Sendable {
    /// The request fails.
    case fail(SyncError)
    /// No answer comes until ``InMemoryRemote/releaseHanging()`` or the task's cancellation.
    case hang
    /// The page has at most this many records.
    case shortPage(Int)
    /// The page is empty, and not the last one.
    case emptyPage
    /// The type's previous page is repeated, regardless of the request.
    case repeatedPage
    /// The page is empty, and its continuation is the position of the request.
    case stuckToken
    /// A replica answers that lacks this many of the last changes.
    case laggingReplica(changes: Int)
  }

  /// Scripts a behaviour for some requests, counted from 1 since the remote was created.
  ///
  /// - Parameters:
  ///   - behaviour: The fault or unusual behaviour.
  ///   - requests: Numbers among the requests for the type, or among all requests without a type.
  ///   - type: The type of the requests; `nil` for all types.
  public func behave(_ behaviour: Behaviour, on requests: ClosedRange<Int>, of type: RecordType? = nil) {
    state.withLock { $0.script.add(behaviour, requests, type) }
  }

  /// Scripts a behaviour for one request, counted from 1 since the remote was created.
  public func behave(_ behaviour: Behaviour, on request: Int, of type: RecordType? = nil) {
    behave(behaviour, on: request...request, of: type)
  }

  /// Scripts a behaviour for the next requests.
  public func behave(_ behaviour: Behaviour, onNext count: Int = 1, of type: RecordType? = nil) {
    guard count > 0 else { return }
    state.withLock { state in
      let made = type.map { state.counters.byType[$0]?.requests ?? 0 } ?? state.counters.total.requests
      let (last, isEndless) = made.addingReportingOverflow(count)
      state.script.add(behaviour, made + 1...(isEndless ? .max : last), type)
    }
  }

  /// Removes the script.
  public func behaveWell() {
    state.withLock { $0.script = RemoteScript() }
  }

  /// The number of scripted behaviours that still apply to future requests.
  public var unplayedBehaviours: Int {
    state.withLock { state in
      state.script.unplayed { type in
        type.map { state.counters.byType[$0]?.requests ?? 0 } ?? state.counters.total.requests
      }
    }
  }

  /// The number of requests that hang.
  public var hangingRequests: Int { hanging.count }

  /// Answers all requests that hang.
  public func releaseHanging() { hanging.release() }

  /// Waits until a request hangs, or the calling task is cancelled.
  public func waitUntilRequestHangs() async { await hanging.waitUntilOccupied() }
}

/// The scripted behaviours by request.
struct RemoteScript: Sendable {
  private struct Line {
    var behaviour: InMemoryRemote.Behaviour
    var requests: ClosedRange<Int>
    var type: RecordType?
  }
  private var lines: [Line] = []

  mutating func add(_ behaviour: InMemoryRemote.Behaviour, _ requests: ClosedRange<Int>, _ type: RecordType?)
  {
    lines.append(Line(behaviour: behaviour, requests: requests, type: type))
  }

  func behaviours(for type: RecordType, _ number: RemoteLedger.Number) -> [InMemoryRemote.Behaviour] {
    lines.filter { line in
      line.type.map { $0 == type && line.requests.contains(number.ofType) }
        ?? line.requests.contains(number.ofAll)
    }.map(\.behaviour)
  }

  func unplayed(after requests: (RecordType?) -> Int) -> Int {
    lines.count { requests($0.type) < $0.requests.upperBound }
  }
}
