import SyncModels
import SyncPorts
import Synchronization

/// What an app wants of each type: the records that satisfy a condition.
final class RecordFilters: Sendable {
  private struct State {
    var conditions: [RecordType: Condition] = [:]
    var revision = 0
  }
  private let state: Mutex<State>

  convenience init() { self.init(State()) }

  private init(_ state: State) { self.state = Mutex(state) }

  var conditions: [RecordType: Condition] { state.withLock { $0.conditions } }

  /// The number of changes so far: a sync with later filters serves those who asked under earlier ones.
  var revision: Int { state.withLock { $0.revision } }

  /// The filters as they are now, for one sync: its pages and its checkpoint belong together.
  var frozen: RecordFilters { RecordFilters(state.withLock { $0 }) }

  func set(_ condition: Condition?, for type: RecordType) {
    state.withLock { state in
      guard state.conditions[type] != condition else { return }
      state.conditions[type] = condition
      state.revision += 1
    }
  }

  func wants(_ change: RecordChange, _ entity: Entity) -> Bool {
    guard case .upsert(let record) = change, let condition = conditions[entity.type] else { return true }
    return condition.isSatisfied(by: record, of: entity)
  }
}

extension RunEnvironment {
  /// The filter of the source, and that of the app. Another one voids the type's checkpoint.
  func query(for type: RecordType) -> String {
    let query = source.query(for: type)
    return filters.conditions[type].map { "\(query)\nfilter: \($0)" } ?? query
  }

  /// Returns a page without the records that the app does not want.
  ///
  /// What the store shows of them is deleted. In a delta all of them are: an earlier page, which is not in the
  /// store yet, may have one as the app wanted it. A record with a pending edit stays, as the deletion would be
  /// another client's.
  func selected(_ page: RecordPage, of entity: Entity) async throws(SyncError) -> RecordPage {
    guard let condition = filters.conditions[entity.type] else { return page }
    var unwanted: [RecordID: Tombstone] = [:]
    for case .upsert(let record) in page.changes where !condition.isSatisfied(by: record, of: entity) {
      unwanted[record.id] = Tombstone(id: record.id, version: record.version)
    }
    if unwanted.isEmpty { return page }
    let (tombstones, keepsUnknown) = (unwanted.values.sorted { $0.id < $1.id }, page.coverage == .delta)
    let (edited, shown) = try await store.read { (snapshot) throws(SyncError) in
      let states = keepsUnknown ? [] : try snapshot.states(of: tombstones)
      return (
        Set(try snapshot.edits(of: tombstones.map(\.id)).keys),
        Set(zip(tombstones, states).lazy.filter { $1.map { !$0.isDeleted } ?? false }.map(\.0.id))
      )
    }
    var page = page
    let before = page.changes.count
    page.changes = page.changes.compactMap { change in
      guard case .upsert(let record) = change, let tombstone = unwanted[record.id],
        !edited.contains(record.id)
      else { return change }
      return keepsUnknown || shown.contains(record.id) ? .tombstone(tombstone) : nil
    }
    page.leftOut = before - page.changes.count
    return page
  }
}
