import SyncModels
import SyncPorts

/// Waits for commits that a reader may have to read: this engine's events, and others' commits.
struct CommitWatch: Sendable {
  let poll: CommitPoll
  /// The engine's events; `nil` for a reader without an engine.
  let events: EventSequence.Subscription?

  var store: any LocalStore { poll.store }

  /// The result of a wait.
  struct Awakening: Sendable {
    /// The engine's events since the last wait, oldest first.
    var events: [SyncEvent] = []
    /// Whether a commit without an event may have happened.
    var isByOthers = false
  }

  /// Looks at the store's commits.
  func look() async -> CommitLook { await poll.look() }

  /// Waits until there is an event, or others may have committed something.
  ///
  /// It also returns when the task is cancelled.
  ///
  /// - Parameters:
  ///   - look: The look before the reader's last read.
  ///   - ignoresOwn: Whether commits through the same store count by their events alone.
  func wait(after look: CommitLook?, ignoresOwn: Bool) async -> Awakening {
    let isPolled = !ignoresOwn || store is any SharedStore
    return await withTaskGroup(of: Awakening.self) { group in
      if let events { group.addTask { Awakening(events: await events.buffer.next().map { [$0] } ?? []) } }
      if isPolled {
        group.addTask { Awakening(isByOthers: await poll.wait(after: look, ignoresOwn: ignoresOwn)) }
      }
      var awakening = await group.next() ?? Awakening()
      group.cancelAll()
      // An event may have been taken in the same moment. It must not be lost.
      for await other in group {
        awakening.events += other.events
      }
      awakening.events += events?.buffer.takeAll() ?? []
      return awakening
    }
  }
}

/// What a look at a store's commits has found.
struct CommitLook: Sendable {
  /// The mark of the commits; `nil` if the store has none, or has failed.
  ///
  /// A failure shows in the read that follows.
  var mark: CommitMark?
  /// When the look began.
  var time: Timestamp
}

/// Looks for the commits that no event tells: those of other engines, connections and processes.
///
/// A store may tell of them. Another one is asked four times a second, however many readers wait.
/// One of the waiting tasks asks for all of them. When that one ends, the next one goes on.
final class CommitPoll: Sendable {
  /// How often, at most, a reader looks for other connections' commits.
  static let interval = Duration.milliseconds(250)

  let store: any LocalStore
  private let clock: any Clock<Duration>

  private struct State {
    /// Whether one of the tasks is looking.
    var isLooking = false
    /// The time of the last look.
    var last: Timestamp?
    var position: StorePosition?
  }
  /// The tasks that wait for the one that is looking.
  private let queue: WaitQueue<State, CommitLook?>

  init(_ store: any LocalStore, clock: any Clock<Duration>, from position: StorePosition? = nil) {
    self.store = store
    self.clock = clock
    queue = WaitQueue(State(position: position))
  }

  /// The position of the store that was read last: all commits from now on are later.
  var position: StorePosition? {
    get { queue.update { state, _ in state.position } }
    set { queue.update { state, _ in state.position = newValue } }
  }

  func look() async -> CommitLook {
    let time = clock.timestamp
    guard let store = store as? any SharedStore else { return CommitLook(time: time) }
    return CommitLook(mark: try? await store.commitMark(), time: time)
  }

  /// Waits until there may be commits after a look.
  ///
  /// - Returns: `false` if the task is cancelled.
  func wait(after look: CommitLook?, ignoresOwn: Bool) async -> Bool {
    var last = look
    while !Task.isCancelled {
      if let told = last, let mark = told.mark, let store = store as? any SharedStore,
        await store.waitForCommit(after: mark)
      {
        guard await rest(since: told.time) else { return false }
        last = await self.look()
      } else {
        guard let next = await next() else { continue }
        last = next
      }
      guard let mark = look?.mark, let now = last?.mark else { return true }
      if now.others != mark.others || (!ignoresOwn && now.own != mark.own) { return true }
    }
    return false
  }

  /// Waits for the next look; `nil` if the task that was to look is cancelled.
  private func next() async -> CommitLook? {
    let isFirst = queue.update { state, _ in
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard isFirst else { return await queue.wait { $0.isLooking ? nil : .some(nil) } ?? nil }
    let isDue = await rest(since: queue.update { state, _ in state.last })
    let look = isDue ? await look() : nil
    queue.update { state, waiters in
      state.isLooking = false
      if look != nil { state.last = clock.timestamp }
      waiters.deliverToAll(look)
    }
    return look
  }

  /// Waits for the end of the interval after a look; `false` if the task is cancelled.
  ///
  /// The interval has begun with the look, because readers that are often called away by events
  /// would otherwise put off the next one without end.
  private func rest(since look: Timestamp?) async -> Bool {
    let passed = look.map { clock.timestamp.duration(since: $0) } ?? .zero
    let pause = passed < .zero ? Self.interval : Self.interval - min(passed, Self.interval)
    do { try await clock.pause(for: pause, as: .observation) } catch { return false }
    return true
  }
}
