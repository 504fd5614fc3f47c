import SyncModels
import SyncPorts

/// Everything that a store says of the records of a world, at one instant.
struct StoreView: Equatable, Sendable {
  private(set) var live: [RecordID: Record] = [:]
  private(set) var states: [RecordID: StoredState] = [:]
  private(set) var shelf: [SetAside.Key: SetAside] = [:]
  private(set) var checkpoints: [RecordType: Checkpoint] = [:]
  private(set) var outbox: [RecordID: OutboxEntry] = [:]
  /// The newest conflicts of the log, the newest first.
  private(set) var conflicts: [Conflict] = []
  private(set) var rebuild: Rebuild?

  /// How far the rebuild of a world's duplicates has come, as far as a world looks at it.
  struct Rebuild: Equatable, Sendable, Decodable {
    struct Counts: Equatable, Sendable, Decodable { var losers: Int }
    var version: Int
    var isDone: Bool
    var counts: Counts
  }

  init() {}

  /// Reads all of it.
  ///
  /// - Parameter hasEdits: Whether the world has local edits; without, nothing is looked for where they are kept.
  init(
    _ snapshot: any StoreSnapshot, types: [RecordType], ids: [RecordID], hasEdits: Bool
  ) throws(SyncError) {
    if hasEdits {
      for type in types {
        for entry in try snapshot.outbox(type, after: nil, limit: 10_000) { outbox[entry.id] = entry }
      }
      conflicts = try snapshot.conflicts(nil, before: nil, limit: 40)
      if let bytes = try snapshot.value(forKey: "rebuild/teams") {
        rebuild = try? PayloadDecoder().decode(Rebuild.self, from: bytes[...])
      }
    }
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
