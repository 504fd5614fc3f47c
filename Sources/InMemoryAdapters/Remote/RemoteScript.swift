public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// Something that a remote does wrong, or oddly, with a request.
  public enum Behaviour: Sendable {
    /// The request fails.
    case fail(SyncError)
    /// No answer comes until ``InMemoryRemote/releaseHanging()`` or the task's cancellation.
    case hang
    /// The page holds so many records at most.
    case shortPage(Int)
    /// The page is empty, and not the last one.
    case emptyPage
    /// The type's page before this one comes again, whatever was asked for.
    case repeatedPage
    /// The page is empty, and its continuation leads to where the request already was.
    case stuckToken
    /// A replica answers that has not heard of so many of the last changes.
    case laggingReplica(changes: Int)
  }

  /// Scripts a behaviour for some requests, counted from 1 since the remote was made.
  ///
  /// - Parameters:
  ///   - requests: Numbers among the requests for the type; among all requests where no type is given.
  ///   - type: The type whose requests are meant; all types' if `nil`.
  public func behave(_ behaviour: Behaviour, on requests: ClosedRange<Int>, of type: RecordType? = nil) {
    state.withLock { $0.script.add(behaviour, requests, type) }
  }

  /// Scripts a behaviour for the request of a number, counted from 1 since the remote was made.
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

  /// Forgets the script.
  public func behaveWell() {
    state.withLock { $0.script = RemoteScript() }
  }

  /// How many scripted behaviours have yet to be seen for the last time.
  public var unplayedBehaviours: Int {
    state.withLock { state in
      state.script.unplayed { type in
        type.map { state.counters.byType[$0]?.requests ?? 0 } ?? state.counters.total.requests
      }
    }
  }

  /// How many requests hang.
  public var hangingRequests: Int { hanging.count }

  /// Lets the requests that hang be answered.
  public func releaseHanging() { hanging.release() }

  /// Returns when a request hangs, or when the asking task is cancelled.
  public func waitUntilRequestHangs() async { await hanging.waitUntilOccupied() }
}

/// What is to happen to which request.
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
