import SyncModels
import SyncPorts

/// Everything that a store says of the records of a world, at one instant.
struct StoreView: Equatable, Sendable {
  private(set) var live: [RecordID: Record] = [:]
  private(set) var states: [RecordID: StoredState] = [:]
  private(set) var shelf: [SetAside.Key: SetAside] = [:]
  private(set) var checkpoints: [RecordType: Checkpoint] = [:]

  init() {}

  init(_ snapshot: any StoreSnapshot, types: [RecordType], ids: [RecordID]) throws(SyncError) {
    for type in types {
      for record in try snapshot.records(Query(type)) { live[record.id] = record }
      let kinds = Set(SetAside.Kind.allCases)
      for entry in try snapshot.setAside(type, kinds: kinds, after: nil, limit: 10_000) {
        shelf[entry.key] = entry
      }
      checkpoints[type] = try snapshot.checkpoint(for: type)
    }
    for id in ids { states[id] = try snapshot.state(of: id) }
  }

  /// References of live records to records that are not live, in words.
  func dangling(in graph: EntityGraph) -> [String] {
    var found: [String] = []
    for record in live.values {
      guard let entity = graph[record.id.type] else { continue }
      for target in entity.requiredReferences(of: record) where live[target] == nil {
        found.append("\(record.id) refers to \(target)")
      }
    }
    return found.sorted()
  }
}
