import SyncModels
import Synchronization

/// Decides which types are pulled when.
///
/// Each type comes after those that it refers to, several side by side, urgent ones first. Of the
/// unfinished types, only the most urgent go on; the others wait after their current page. The
/// dependencies of an urgent type are as urgent, so one type can always go on.
struct PullSchedule {
  private var waiting: [Entity]
  private var running: Set<RecordType> = []
  private var held: Set<RecordType> = []
  private var priority: [RecordType] = []
  /// The ranks of types, 0 the most urgent. Types without a rank are the least urgent.
  private var ranks: [RecordType: Int] = [:]
  private let dependencies: [RecordType: [RecordType]]
  private let width: Int

  /// Plans the pulls of some types of a schema.
  init(_ entities: [Entity], of schema: SyncSchema, width: Int) {
    waiting = entities
    dependencies = Dictionary(
      entities.map { ($0.type, schema.dependencies(of: $0)) }, uniquingKeysWith: { first, _ in first })
    self.width = max(1, width)
  }

  /// Whether no type is running or waiting.
  var isOver: Bool { waiting.isEmpty && running.isEmpty }

  /// Whether a type is the only one that is not over.
  func isLast(_ type: RecordType) -> Bool { waiting.isEmpty && running == [type] }

  /// Puts types before the others, in this order.
  ///
  /// - Returns: Whether the order changed.
  @discardableResult
  mutating func prioritize(_ types: [RecordType]) -> Bool {
    guard types != priority else { return false }
    priority = types
    ranks = [:]
    for (rank, type) in types.enumerated() { setRank(rank, of: type) }
    return true
  }

  private mutating func setRank(_ rank: Int, of type: RecordType) {
    // A type that has a rank already is at least as urgent, and so are its dependencies.
    guard ranks[type] == nil else { return }
    ranks[type] = rank
    for dependency in dependencies[type, default: []] { setRank(rank, of: dependency) }
  }

  /// Returns the types that may start now.
  mutating func next() -> [Entity] {
    var started: [Entity] = []
    let floor = floor
    // Only types that are pulled in this sync can be waited for.
    let pending = Set(waiting.map(\.type)).union(running)
    for entity in waiting where running.count - held.count < width && rank(of: entity.type) == floor {
      guard dependencies[entity.type, default: []].allSatisfy({ !pending.contains($0) }) else { continue }
      started.append(entity)
      running.insert(entity.type)
    }
    waiting.removeAll { running.contains($0.type) }
    return started
  }

  /// Decides whether a running type has to wait for more urgent ones.
  ///
  /// If so, it waits until ``released()`` returns it.
  mutating func hold(_ type: RecordType) -> Bool {
    guard rank(of: type) > floor else { return false }
    held.insert(type)
    return true
  }

  /// Returns the waiting types that may go on.
  mutating func released() -> [RecordType] {
    let floor = floor
    let released = held.filter { rank(of: $0) == floor }.sorted()
    held.subtract(released)
    return released
  }

  /// Returns the index of the most urgent of some types, the first of equals.
  func mostUrgent(_ types: [RecordType]) -> Int? {
    types.indices.min { (rank(of: types[$0]), $0) < (rank(of: types[$1]), $1) }
  }

  /// Records that a type's pass has ended, whatever its result.
  mutating func ended(_ type: RecordType) {
    running.remove(type)
    held.remove(type)
  }

  private func rank(of type: RecordType) -> Int { ranks[type] ?? .max }

  /// The rank of the most urgent unfinished types.
  private var floor: Int {
    min(
      waiting.lazy.map { rank(of: $0.type) }.min() ?? .max,
      running.lazy.map { rank(of: $0) }.min() ?? .max)
  }
}

/// The types that go first in the running sync, which may change while it runs.
final class PriorityBoard: Sendable {
  private let state = Mutex<[RecordType]>([])

  /// The types to go first, the most urgent one first.
  var types: [RecordType] { state.withLock { $0 } }

  /// Starts over with the types of a request.
  func begin(_ types: [RecordType]) {
    state.withLock { $0 = types }
  }

  /// Puts types before those that are there.
  func raise(_ types: [RecordType]) {
    state.withLock { state in state = types + state.filter { !types.contains($0) } }
  }
}
