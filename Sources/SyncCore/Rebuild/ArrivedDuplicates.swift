import SyncModels
import SyncPorts

/// The duplicates that arrived after a type's rebuild, by pages or by edits.
///
/// They are noted in the transaction that brings them, and collapsed at the end of a sync. A page
/// or an edit does not collapse them: a later page may hold a record that refers to a loser, and
/// would wait for a record that never comes.
struct ArrivedDuplicates: Hashable, Codable {
  /// The natural keys of the groups.
  var keys: [String] = []
  /// Whether there are too many keys to list.
  var areMany = false

  private static let limit = 10_000

  /// Notes the changed records that share their natural key with another record.
  static func note(
    _ changed: SyncEvent.ChangedRecords, of schema: SyncSchema, in transaction: any StoreTransaction
  ) throws(SyncError) {
    for entity in schema.entities where entity.naturalKey != nil {
      var ids: [RecordID]?
      if case .some(let all) = changed {
        let own = all.filter { $0.type == entity.type }
        // Most pages change no record of most types, and need no look at the rebuild's progress.
        if own.isEmpty { continue }
        ids = own
      }
      guard try RebuildProgress.load(for: entity.type, from: transaction)?.isDone ?? false else { continue }
      guard let ids else {
        try ArrivedDuplicates(areMany: true).save(for: entity.type, in: transaction)
        continue
      }
      let records = try transaction.records(withIDs: ids)
      let keys = records.compactMap { $0.flatMap { entity.naturalKey(of: $0) } }.distinctByUTF8()
      guard !keys.isEmpty else { continue }
      let groups = try transaction.records(ofType: entity.type, withNaturalKeys: keys)
      let shared = zip(keys, groups).filter { $0.1.count > 1 }.map(\.0)
      guard !shared.isEmpty else { continue }
      var due = try load(for: entity.type, from: transaction) ?? ArrivedDuplicates()
      due.add(shared)
      try due.save(for: entity.type, in: transaction)
    }
  }

  mutating func add(_ more: some Sequence<String>) {
    keys = (keys + more).distinctByUTF8()
    guard keys.count > Self.limit else { return }
    areMany = true
    keys = []
  }

  static func load(
    for type: RecordType, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> ArrivedDuplicates? {
    try snapshot.value(of: key(for: type))
  }

  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if keys.isEmpty && !areMany {
      try transaction.remove(Self.key(for: type))
    } else {
      try transaction.set(self, for: Self.key(for: type))
    }
  }

  private static func key(for type: RecordType) -> ValueKey<ArrivedDuplicates> {
    ValueKey(.rebuilds, "\(type)/arrived")
  }
}
