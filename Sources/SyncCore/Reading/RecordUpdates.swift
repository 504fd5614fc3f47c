public import SyncModels
import SyncPorts

/// The results of a query: the present one, and a new one after each change that touches it.
///
/// The first element is the result at the time of the first request, and nothing that is committed
/// after it is missed, so there is no gap between loading and following. Changes that come faster
/// than they are requested become one element. No element is older than the one before it, and no
/// two in a row are equal. The sequence ends when the consuming task is cancelled.
///
/// An element differs from the one before also if only a record's version or the state of an edit
/// does. ``values`` follows the values alone.
///
/// Commits of the same engine are heard at once. Those of other engines, connections and processes
/// on the same data are heard within 250 ms, as long as an element is being waited for.
public struct RecordUpdates<Value: SyncedRecord>: AsyncSequence, Sendable {
  /// A result of the query.
  public typealias Element = RecordList<Stored<Value>>
  /// Reading may fail.
  public typealias Failure = SyncError

  let following: Following<ReadRecords, Element>

  /// Creates an iterator, which follows the query on its own.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: following.makeAsyncIterator()) }

  /// An iterator over the results of a query.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var base: Following<ReadRecords, Element>.AsyncIterator

    /// Waits for the next result; `nil` once the task is cancelled.
    ///
    /// - Throws: As ``LocalRecords/filter(_:where:order:afterKey:limit:)``. A further request reads
    ///   again.
    public mutating func next() async throws(SyncError) -> Element? { try await base.next() }
  }
}

extension RecordUpdates where Value: Equatable {
  /// The results as values alone: an element follows only if a value has changed.
  ///
  /// What a push, a pull or an edit changes beside the values is no change: a version, the state of
  /// an edit, a member that the type does not decode.
  public var values: some AsyncSequence<RecordList<Value>, SyncError> & Sendable {
    ChangedValues(updates: self)
  }
}

/// The values of a query's results, without those that equal the ones before.
private struct ChangedValues<Value: SyncedRecord & Equatable>: AsyncSequence, Sendable {
  typealias Element = RecordList<Value>
  typealias Failure = SyncError

  let updates: RecordUpdates<Value>

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: updates.makeAsyncIterator()) }

  struct AsyncIterator: AsyncIteratorProtocol {
    var base: RecordUpdates<Value>.AsyncIterator
    var last: RecordList<Value>?

    mutating func next() async throws(SyncError) -> RecordList<Value>? {
      while let records = try await base.next() {
        let values = RecordList(
          records.map(\.value), leftOut: records.leftOut, lastKey: records.lastKey)
        if let last, last.leftOut == values.leftOut, last.elementsEqual(values) { continue }
        last = values
        return values
      }
      return nil
    }
  }
}

/// Follows a read of the store: its result now, and after each commit that changes it.
struct Following<Read: Equatable & Sendable, Element: Sendable>: AsyncSequence, Sendable {
  typealias Failure = SyncError

  let store: any LocalStore
  let watch: @Sendable () -> CommitWatch
  /// Reads; `nil` if the changes since the result before do not touch that.
  let read: @Sendable (any StoreSnapshot, Read?, CommittedChanges) throws(SyncError) -> Read?
  let element: @Sendable (Read) -> Element

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(following: self, watch: watch()) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let following: Following
    let watch: CommitWatch
    private var last: Read?
    /// Whether to read without a wait: at first, and after a read that failed.
    private var isDue = true
    private var position: StorePosition?
    private var look: CommitLook?

    init(following: Following, watch: CommitWatch) {
      self.following = following
      self.watch = watch
    }

    mutating func next() async throws(SyncError) -> Element? {
      let readAgain = following.read
      while !Task.isCancelled {
        if !isDue {
          _ = await watch.wait(after: look, ignoresOwn: false)
          if Task.isCancelled { return nil }
        }
        isDue = true
        look = await watch.look()
        let (start, before) = (position, last)
        let (read, end) = try await following.store.read { (snapshot) throws(SyncError) in
          let changes = try snapshot.changes(after: start)
          return (try readAgain(snapshot, before, changes), changes.position)
        }
        (position, isDue) = (end, false)
        watch.poll.position = end
        guard let read, read != last else { continue }
        last = read
        return following.element(read)
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
    RecordUpdates(
      following: Following(store: store, watch: { watch() }) { (snapshot, last, changes) throws(SyncError) in
        let query = try Self.query(type, condition, order, limit)
        if let last, try !last.isTouched(by: changes, of: [query.type], in: snapshot) { return nil }
        try checkNames(in: query, of: type, snapshot)
        return try ReadRecords(query, by: schema.keyMembers(of: type), in: snapshot)
      } element: {
        decoded($0, as: type)
      })
  }

  /// Follows a query with the targets of some references; see
  /// ``observe(_:where:order:limit:)`` and ``filter(_:where:order:afterKey:limit:including:)``.
  ///
  /// A change of a target is a change of the result.
  public func observe<T: SyncedRecord>(
    _ type: T.Type, where condition: Condition? = nil, order: [Query.SortField] = [], limit: Int? = nil,
    including fields: [FieldName]
  ) -> some AsyncSequence<RecordList<Included<T>>, SyncError> & Sendable {
    Following(store: store, watch: { watch() }) { (snapshot, last, changes) throws(SyncError) in
      let query = try Self.query(type, condition, order, limit)
      let columns = try columns(of: fields, in: query.type)
      let types = [query.type] + columns.map(\.type)
      if let last, try !last.read.isTouched(by: changes, of: types, in: snapshot) { return nil }
      try checkNames(in: query, of: type, snapshot)
      return try ReadIncluded(query, columns, by: schema.keyMembers(of: type), in: snapshot)
    } element: {
      decoded($0, as: type)
    }
  }
}

extension LocalEdits {
  /// Follows a type's outbox: its pending edits and what each waits for, now and after each change.
  ///
  /// ```swift
  /// for try await edits in engine.edits.observe("notes") {
  ///   show(edits.count, edits.filter { $0.kind == .change }.map(\.reason))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - limit: The most edits of an element, the oldest ones.
  /// - Complexity: Each commit repeats ``waiting(_:after:limit:)``.
  public func observe(
    _ type: RecordType, limit: Int = 1000
  ) -> some AsyncSequence<[PendingEdit], SyncError> & Sendable {
    let entity = schema[type]
    return Following(store: store, watch: { watch() }) { (snapshot, _, _) throws(SyncError) in
      try PendingEdit.read(
        snapshot.portion(outbox: type, after: nil, limit: limit), of: entity, in: snapshot)
    } element: {
      $0
    }
  }
}

extension ReadRecords {
  /// Whether changes may alter the result.
  fileprivate func isTouched(
    by changes: CommittedChanges, of types: [RecordType], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    switch changes.scope {
    case .everything: return true
    case .records(let ids):
      if ids.contains(where: { types.contains($0.type) }) { return true }
      // What becomes of an edit at the remote changes no record.
      if edits.isEmpty { return false }
      return try Self.states(of: Array(edits.keys), in: snapshot) != edits
    }
  }
}

/// The changes of an engine's records, for one consumer; see ``SyncEngine/changes()``.
struct ChangeSequence: AsyncSequence, Sendable {
  typealias Element = ChangedRecords
  typealias Failure = Never

  let watch: CommitWatch
  /// A position of the store before the sequence was made; `nil` for one that is unknown.
  let start: StorePosition?

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(watch: watch, position: start) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let watch: CommitWatch
    private var waiting: [ChangedRecords] = []
    private var position: StorePosition?
    private var look: CommitLook?

    init(watch: CommitWatch, position: StorePosition?) { (self.watch, self.position) = (watch, position) }

    mutating func next() async -> ChangedRecords? {
      while waiting.isEmpty {
        if Task.isCancelled { return nil }
        if look == nil, watch.store is any SharedStore {
          await catchUp()
          if !waiting.isEmpty { break }
        }
        let awakening = await watch.wait(after: look, ignoresOwn: true)
        waiting = awakening.events.compactMap(\.changed)
        if awakening.isByOthers { await takeOthers() }
        if Task.isCancelled, waiting.isEmpty { return nil }
      }
      return waiting.removeFirst()
    }

    /// Takes what was committed since the sequence was made, by this engine and by others.
    private mutating func catchUp() async {
      // They tell of commits that the store tells of too.
      let events = watch.events?.buffer.takeAll() ?? []
      let isComplete = position != nil
      await takeOthers()
      if look == nil || !isComplete { waiting = events.compactMap(\.changed) + waiting }
    }

    private mutating func takeOthers() async {
      let now = await watch.look()
      // After a failure, the next look finds the same commits again, after a pause.
      guard let changes = await changes() else {
        look?.time = now.time
        return
      }
      (look, position) = (now, changes.position)
      watch.poll.position = position
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
