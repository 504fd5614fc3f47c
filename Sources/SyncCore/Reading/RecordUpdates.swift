public import SyncModels
import SyncPorts

/// The results of a query: the present one, and a new one after each change that touches it.
///
/// The first element is the result at the time of the first request, and nothing that is committed
/// after it is missed, so there is no gap between loading and following. Changes that come faster
/// than they are requested become one element. No element is older than the one before it, and no
/// two in a row are equal. The sequence ends when the consuming task is cancelled.
///
/// Commits of the same engine are heard at once. Those of other engines, connections and processes
/// on the same data are heard within 250 ms, as long as an element is being waited for.
public struct RecordUpdates<Value: SyncedRecord>: AsyncSequence, Sendable {
  /// A result of the query.
  public typealias Element = RecordList<Stored<Value>>
  /// Reading may fail.
  public typealias Failure = SyncError

  let records: LocalRecords
  let condition: Condition?
  let order: [Query.SortField]
  let limit: Int?

  /// Creates an iterator, which follows the query on its own.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(updates: self, watch: records.watch())
  }

  /// An iterator over the results of a query.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let updates: RecordUpdates
    let watch: CommitWatch
    private var last: ReadRecords?
    /// Whether to read without a wait: at first, and after a read that failed.
    private var isDue = true
    private var position: StorePosition?
    private var mark: CommitMark?

    init(updates: RecordUpdates, watch: CommitWatch) {
      self.updates = updates
      self.watch = watch
    }

    /// Waits for the next result; `nil` once the task is cancelled.
    ///
    /// - Throws: As ``LocalRecords/filter(_:where:order:afterKey:limit:)``. A further request reads
    ///   again.
    public mutating func next() async throws(SyncError) -> Element? {
      let query = try LocalRecords.query(Value.self, updates.condition, updates.order, updates.limit)
      while !Task.isCancelled {
        if !isDue {
          _ = await watch.wait(after: mark, ignoresOwn: false)
          if Task.isCancelled { return nil }
        }
        isDue = true
        mark = await watch.mark()
        let (start, before) = (position, last)
        let (read, end) = try await updates.records.store.read { (snapshot) throws(SyncError) in
          let changes = try snapshot.changes(after: start)
          guard let before, try !before.isTouched(by: changes, of: query.type, in: snapshot) else {
            return (try ReadRecords(query, in: snapshot) as ReadRecords?, changes.position)
          }
          return (nil, changes.position)
        }
        (position, isDue) = (end, false)
        guard let read, read != last else { continue }
        last = read
        return updates.records.decoded(read, as: Value.self)
      }
      return nil
    }
  }
}

extension LocalRecords {
  /// Follows a query: its result now, and after each change that touches it.
  ///
  /// ```swift
  /// for try await games in engine.records.observe(Game.self, where: Game.startsAt >= today) {
  ///   show(games)
  /// }
  /// ```
  ///
  /// Load nothing before: the first element is what there is, and the next one has all that came
  /// since. A record that does not decode is in ``RecordList/leftOut`` of each element.
  ///
  /// - Complexity: A change of any record of the type repeats the query, at the cost of
  ///   ``filter(_:where:order:afterKey:limit:)``. The last result is held in memory.
  public func observe<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil, order: [Query.SortField] = [], limit: Int? = nil
  ) -> RecordUpdates<T> {
    RecordUpdates(records: self, condition: condition, order: order, limit: limit)
  }
}

extension ReadRecords {
  /// Whether changes may alter the result.
  fileprivate func isTouched(
    by changes: CommittedChanges, of type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    switch changes.scope {
    case .everything: return true
    case .records(let ids):
      if ids.contains(where: { $0.type == type }) { return true }
      // An acknowledged edit changes no record, and is not pending any more.
      if pending.isEmpty { return false }
      return Set(try snapshot.outbox(for: Array(pending)).map(\.id)) != pending
    }
  }
}

/// The changes of an engine's records, for one consumer; see ``SyncEngine/changes()``.
struct ChangeSequence: AsyncSequence, Sendable {
  typealias Element = ChangedRecords
  typealias Failure = Never

  let watch: CommitWatch

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(watch: watch) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let watch: CommitWatch
    private var waiting: [ChangedRecords] = []
    private var position: StorePosition?
    private var mark: CommitMark?

    init(watch: CommitWatch) { self.watch = watch }

    mutating func next() async -> ChangedRecords? {
      while waiting.isEmpty {
        if Task.isCancelled { return nil }
        if position == nil, watch.store is any SharedStore {
          mark = await watch.mark()
          position = await changes()?.position
        }
        let awakening = await watch.wait(after: mark, ignoresOwn: true)
        waiting = awakening.events.compactMap(\.changed)
        if awakening.isByOthers { await takeOthers() }
        if Task.isCancelled, waiting.isEmpty { return nil }
      }
      return waiting.removeFirst()
    }

    private mutating func takeOthers() async {
      let now = await watch.mark()
      // After a failure, the next look finds the same commits again.
      guard let changes = await changes() else { return }
      (mark, position) = (now, changes.position)
      if !changes.scope.isEmpty { waiting.append(changes.scope) }
    }

    /// What changed since the position; `nil` if the store cannot tell at present.
    private func changes() async -> CommittedChanges? {
      let start = position
      return try? await watch.store.read { (snapshot) throws(SyncError) in try snapshot.changes(after: start)
      }
    }
  }
}

extension SyncEvent {
  /// What readers see changed by the event; `nil` if nothing.
  fileprivate var changed: ChangedRecords? {
    switch self {
    case .edited(let changed), .hidden(let changed): changed
    case .annotated(let id): .records([id])
    case .pageCommitted(let report): report.changed.isEmpty ? nil : report.changed
    case .lost: .everything
    default: nil
    }
  }
}

/// Waits for commits that a reader may have to read: this engine's events, and others' commits.
struct CommitWatch: Sendable {
  /// How often other connections' commits are looked for.
  static let interval = Duration.milliseconds(250)

  let store: any LocalStore
  let clock: any Clock<Duration>
  /// The engine's events; `nil` for a reader without an engine.
  let events: EventSequence.Subscription?

  /// The result of a wait.
  struct Awakening: Sendable {
    /// The engine's events since the last wait, oldest first.
    var events: [SyncEvent] = []
    /// Whether a commit without an event may have happened.
    var isByOthers = false
  }

  /// The mark of the store's commits; `nil` if the store has none, or has failed.
  ///
  /// A failure shows in the read that follows.
  func mark() async -> CommitMark? {
    guard let store = store as? any SharedStore else { return nil }
    return try? await store.commitMark()
  }

  /// Waits until there is an event, or others may have committed something.
  ///
  /// It also returns when the task is cancelled.
  ///
  /// - Parameters:
  ///   - mark: The mark before the reader's last read.
  ///   - ignoresOwn: Whether commits through the same store count by their events alone.
  func wait(after mark: CommitMark?, ignoresOwn: Bool) async -> Awakening {
    let isPolled = !ignoresOwn || store is any SharedStore
    return await withTaskGroup(of: Awakening.self) { group in
      if let events { group.addTask { Awakening(events: await events.buffer.next().map { [$0] } ?? []) } }
      if isPolled { group.addTask { await poll(after: mark, ignoresOwn: ignoresOwn) } }
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

  private func poll(after mark: CommitMark?, ignoresOwn: Bool) async -> Awakening {
    while true {
      do {
        try await clock.pause(for: Self.interval, as: .observation)
      } catch {
        return Awakening()
      }
      guard let mark, let now = await self.mark() else { return Awakening(isByOthers: true) }
      if now.others != mark.others || (!ignoresOwn && now.own != mark.own) {
        return Awakening(isByOthers: true)
      }
    }
  }
}
