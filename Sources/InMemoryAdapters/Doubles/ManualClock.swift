public import SyncModels
public import SyncPorts
import Synchronization

/// A clock for tests that moves only when the test advances it.
///
/// ```swift
/// async let sync = engine.sync()
/// #expect(await clock.nextSleep(.retry) == .seconds(1))  // resumes when the engine sleeps
/// clock.advance(by: .seconds(1))
/// ```
public final class ManualClock: SyncPorts.Clock {
  /// An instant of a ``ManualClock``: the time since the clock was made.
  public struct Instant: InstantProtocol {
    /// The time since the clock was made.
    public var offset: Duration

    /// The instant that is later by a duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    /// The duration from this instant to another one.
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    /// Whether one instant is before another.
    public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  fileprivate struct Sleeper {
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  fileprivate struct State {
    var now = Instant(offset: .zero)
    var timestamp: Timestamp
    /// What has passed since the timestamp, and is less than its unit.
    var remainder = Duration.zero
    var nextID = 0
    private(set) var sleepers: [Int: Sleeper] = [:]
    /// The earliest of their deadlines.
    private(set) var earliest: Instant?
    /// Sleeps that began and were not yet returned to the test, oldest first.
    var unseen: [(id: Int, name: WaitName?, duration: Duration)] = []
    /// Tasks that wait for a sleep to begin, oldest first.
    var watchers: [(id: Int, name: WaitName?, continuation: CheckedContinuation<Duration, Never>)] = []
  }

  private let state: Mutex<State>

  /// Creates a clock at its beginning.
  ///
  /// - Parameter timestamp: The civil time at that moment; it moves with the clock.
  public init(timestamp: Timestamp = Timestamp(milliseconds: 1_767_225_600_000)) {
    state = Mutex(State(timestamp: timestamp))
  }

  /// The time by which the clock was advanced.
  public var now: Instant { state.withLock { $0.now } }

  /// The resolution of durations.
  public var minimumResolution: Duration { .zero }

  /// The civil time. As with a machine's clock, setting it does not affect sleeps.
  public var timestamp: Timestamp {
    get { state.withLock { $0.timestamp } }
    set { state.withLock { ($0.timestamp, $0.remainder) = (newValue, .zero) } }
  }

  /// The number of sleeps in progress.
  public var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// The end of the first of the sleeps in progress.
  public var nextDeadline: Instant? { state.withLock { $0.earliest } }

  /// Moves the clock, and ends due sleeps, the earliest deadline first.
  public func advance(by duration: Duration) {
    let due = state.withLock { state -> [(key: Int, value: Sleeper)] in
      state.now = state.now.advanced(by: duration)
      // Small steps add up: a pause that is computed from timestamps has to end by them.
      let passed = state.remainder + duration
      let timestamp = state.timestamp + passed
      state.remainder = passed - timestamp.duration(since: state.timestamp)
      state.timestamp = timestamp
      let now = state.now
      guard let earliest = state.earliest, earliest <= now else { return [] }
      let due = state.sleepers.filter { $0.value.deadline <= now }
      for id in due.keys { state.remove(id) }
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
    }
    for (_, sleeper) in due { sleeper.continuation.resume() }
  }

  /// Sleeps until the clock has been advanced to the deadline.
  ///
  /// - Throws: `CancellationError`, at once when the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let (id, name) = (state.withLock { $0.takeID() }, WaitName.current)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // The handler below may have run already. In that case nothing else would resume this
        // continuation.
        let ending = state.withLock { state -> Ending in
          if Task.isCancelled { return .cancelled }
          guard state.now < deadline else { return .due }
          state.add(Sleeper(deadline: deadline, continuation: continuation), as: id)
          let duration = state.now.duration(to: deadline)
          guard let watcher = state.watchers.firstIndex(where: { $0.name == nil || $0.name == name }) else {
            state.unseen.append((id, name, duration))
            return .asleep(nil, duration)
          }
          return .asleep(state.watchers.remove(at: watcher).continuation, duration)
        }
        switch ending {
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .due: continuation.resume()
        case .asleep(let watcher, let duration): watcher?.resume(returning: duration)
        }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.remove(id) }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private enum Ending {
    case cancelled, due
    case asleep(CheckedContinuation<Duration, Never>?, Duration)
  }

  /// Waits for a sleep that was not returned before, and returns its length.
  ///
  /// Sleeps come in the order in which they began. A sleep that has ended is skipped. Zero means
  /// that the asking task was cancelled.
  ///
  /// - Parameter name: What the sleep has to be for; `nil` for any sleep. Sleeps for other purposes
  ///   stay for later calls.
  public func nextSleep(_ name: WaitName? = nil) async -> Duration {
    let id = state.withLock { $0.takeID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Duration? in
          if Task.isCancelled { return .zero }
          if let place = state.unseen.firstIndex(where: { name == nil || $0.name == name }) {
            return state.unseen.remove(at: place).duration
          }
          state.watchers.append((id, name, continuation))
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      let watcher = state.withLock { state in
        let index = state.watchers.firstIndex { $0.id == id }
        return index.map { state.watchers.remove(at: $0) }
      }
      watcher?.continuation.resume(returning: .zero)
    }
  }
}

extension ManualClock.State {
  fileprivate mutating func takeID() -> Int {
    nextID += 1
    return nextID
  }

  fileprivate mutating func add(_ sleeper: ManualClock.Sleeper, as id: Int) {
    sleepers[id] = sleeper
    earliest = min(earliest ?? sleeper.deadline, sleeper.deadline)
  }

  @discardableResult
  fileprivate mutating func remove(_ id: Int) -> ManualClock.Sleeper? {
    unseen.removeAll { $0.id == id }
    let sleeper = sleepers.removeValue(forKey: id)
    if sleeper?.deadline == earliest { earliest = sleepers.values.lazy.map(\.deadline).min() }
    return sleeper
  }
}
