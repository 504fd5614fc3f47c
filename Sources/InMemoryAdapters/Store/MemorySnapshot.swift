import SyncModels
import SyncPorts

/// Reads of one state of a store.
class MemorySnapshot: StoreSnapshot {
  private let identity: String
  fileprivate(set) final var state: StoreState

  init(identity: String, state: StoreState) {
    self.identity = identity
    self.state = state
  }

  func storeIdentity() -> String { identity }

  func registeredEntities() -> [Entity] {
    state.tables.values.map(\.entity).sorted { $0.type < $1.type }
  }

  func records(_ query: Query) throws(SyncError) -> [Record] {
    try state.table(query.type, during: "reading \(query.type)").records(query)
  }

  func count(_ query: Query) throws(SyncError) -> Int {
    try state.table(query.type, during: "counting \(query.type)").count(query)
  }

  func records(withIDs ids: [RecordID]) -> [Record?] {
    ids.map { row(of: $0)?.record }
  }

  func states(of ids: [RecordID], comparing payloads: [Payload]) -> [StoredState?] {
    ids.enumerated().map { place, id in
      guard let table = state.tables[id.type], let row = table[id.key] else { return nil }
      return StoredState(
        version: row.version, isDeleted: row.record == nil,
        hasSamePayload: !payloads.isEmpty && row.record?.payload == payloads[place],
        isMarked: table.isMarked(row))
    }
  }

  func rows(_ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int) -> [StoredRow] {
    state.tables[type]?.rows(selection, after: key, limit: limit) ?? []
  }

  func referenced(among ids: [RecordID]) -> Set<RecordID> {
    let tables = state.tables.values
    return Set(
      ids.filter { id in
        tables.contains { table in
          table.entity.references.contains {
            $0.isOrdered && $0.target == id.type && table.refers(to: id, by: $0.field)
          }
        }
      })
  }

  func counts(_ type: RecordType, rows: Bool) -> TypeCounts {
    let table = rows ? state.tables[type] : nil
    return TypeCounts(
      withheld: state.withheld.counts(type), pending: state.outbox.count(type),
      rows: rows
        ? .init(live: table?.liveCount ?? 0, unmarked: (table?.liveCount ?? 0) - (table?.markedCount ?? 0))
        : nil)
  }

  func changes(after position: StorePosition?) -> CommittedChanges {
    state.changes.after(position)
  }

  func withheld(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    state.withheld.entries(type, kinds: kinds, after: after, limit: limit)
  }

  func withheld(for keys: [WithheldChange.Key]) -> [WithheldChange] {
    keys.compactMap { state.withheld[$0] }
  }

  func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    state.withheld.entries(relation, ids, kinds: kinds, after: after, limit: limit)
  }

  func value(forKey key: String) -> [UInt8]? {
    state.values[UTF8Key(key)]
  }

  func keys(withPrefix prefix: String, after: String?, limit: Int) -> [String] {
    guard limit > 0 else { return [] }
    let start = UTF8Key(prefix)
    let after = after.map { UTF8Key($0) }
    // Names before the prefix are skipped, whatever name the listing starts after.
    var keys: [String] = []
    for (key, _) in state.values.entries(from: max(start, after ?? start)) where key != after {
      guard keys.count < limit, key.string.utf8.starts(with: prefix.utf8) else { break }
      keys.append(key.string)
    }
    return keys
  }

  func outbox(for ids: [RecordID]) -> [OutboxEntry] {
    ids.compactMap { state.outbox[$0] }
  }

  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) -> [OutboxEntry] {
    state.outbox.entries(type, after: after, limit: limit)
  }

  func outbox(leaving ids: [RecordID], limit: Int) -> [[OutboxEntry]] {
    ids.map { state.outbox.entries(leaving: $0, limit: limit) }
  }

  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) -> [Conflict] {
    state.conflicts.conflicts(type, before: before, limit: limit)
  }

  func records(
    ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
  ) -> [[Record]] {
    guard let table = state.tables[type] else { return keys.map { _ in [] } }
    return keys.map { table.naturalKeys.ids(with: $0).compactMap { table[$0.key]?.record } }
  }

  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) -> [DuplicateGroup] {
    state.tables[type]?.duplicates(after: key, limit: limit) ?? []
  }

  private func row(of id: RecordID) -> Row? {
    state.tables[id.type]?[id.key]
  }
}

/// A store's state under change, which the store commits or drops.
final class MemoryTransaction: MemorySnapshot, StoreTransaction {
  func apply(_ changes: StoreChanges) throws(SyncError) {
    try state.apply(changes)
  }
}
