import SyncJSON
import SyncModels
import SyncPorts

/// Reads legacy settings once, and writes records of them.
///
/// Each transaction writes some records and the progress.
struct MigrationRun {
  let edits: LocalEdits
  let store: any LocalStore
  let settings: any LegacySettings
  let migration: LegacyMigration
  let entity: Entity
  let stop: StopSignal

  func perform() async throws(SyncError) -> MigrationReport {
    var report = MigrationReport()
    let name = migration.name
    var progress = try await store.read { (snapshot) throws(SyncError) in
      try MigrationProgress.load(name, from: snapshot)
    }
    if progress.isDone {
      report.wasDone = true
      return report
    }
    let drafts = try await drafts()
    var rest = drafts.keys.sorted { $0.precedesByUTF8($1) }[...]
    repeat {
      if stop.isRaised {
        report.wasCancelled = true
        break
      }
      if let after = progress.after { rest = rest.drop { !after.precedesByUTF8($0) } }
      let portion = rest.prefix(migration.recordsAtOnce)
      rest = rest.dropFirst(portion.count)
      let batch = Batch(
        migration: migration, entity: entity, drafts: portion.map { ($0, drafts[$0] ?? FieldMap()) },
        isLast: rest.isEmpty)
      let (next, refusals) = try await edits.perform { (edits) throws(SyncError) in try batch.run(&edits) }
      progress = next
      for (key, reason) in refusals where report.refusals.count < 100 { report.refusals[key] = reason }
    } while !progress.isDone
    report.counts = progress.counts
    return report
  }

  /// Returns the members for each legacy key from the dictionaries.
  private func drafts() async throws(SyncError) -> [String: FieldMap] {
    var drafts: [String: FieldMap] = [:]
    // Sorted on every machine: it is the order of a new record's members.
    for (dictionary, field) in migration.fields.sorted(by: { $0.key.precedesByUTF8($1.key) }) {
      for (key, value) in try await settings.values(in: dictionary) {
        drafts[key, default: FieldMap()][field] = value[...]
      }
    }
    return drafts
  }
}

/// One transaction of a migration.
private struct Batch: Sendable {
  let migration: LegacyMigration
  let entity: Entity
  let drafts: [(key: String, fields: FieldMap)]
  let isLast: Bool

  func run(
    _ edits: inout EditBatch
  ) throws(SyncError) -> (progress: MigrationProgress, refusals: [(String, String)]) {
    // Another process may have gone further meanwhile.
    var progress = try MigrationProgress.load(migration.name, from: edits.transaction)
    var refusals: [(String, String)] = []
    if progress.isDone { return (progress, refusals) }
    for (key, fields) in drafts where progress.after?.precedesByUTF8(key) ?? true {
      do throws(SyncError) {
        try checkValues(of: fields)
        progress.counts[keyPath: try migrate(key, fields, &edits)] += 1
      } catch {
        guard error.code == .invalidEdit else { throw error }
        progress.counts.refused += 1
        refusals.append((key, error.message))
      }
      progress.after = key
    }
    progress.isDone = isLast
    try progress.save(migration.name, in: edits.transaction)
    return (progress, refusals)
  }

  /// Inserts or changes the record of one legacy key, and returns the count to increase.
  private func migrate(
    _ key: String, _ fields: FieldMap, _ edits: inout EditBatch
  ) throws(SyncError) -> WritableKeyPath<MigrationReport.Counts, Int> {
    var new = FieldMap()
    if let keyField = migration.keyField { new[keyField] = JSONString.quoted(key)[...] }
    for field in fields.fields { new[field] = fields[field] }
    let id = try self.id(for: key, new, edits)
    let earlier = try edits.record(id)
    if earlier != nil, migration.existing == .keep { return \.unchanged }
    let overwrites = migration.existing == .overwrite
    var isChanged = false
    try edits.set(id) { (stored) throws(SyncError) in
      for field in new.fields where overwrites || stored.isLacking(field) {
        // An existing record keeps its spelling of the key member, which is part of its natural
        // key.
        if earlier != nil, field == migration.keyField, stored[field] != nil { continue }
        if !stored.hasSameValue(as: new, for: field) {
          stored[field] = new[field]
          isChanged = true
        }
      }
    }
    return earlier == nil ? \.inserted : isChanged ? \.merged : \.unchanged
  }

  /// Returns the record for a legacy key.
  ///
  /// It is the record that has the natural key already, otherwise the one of the key's own.
  private func id(
    for key: String, _ fields: FieldMap, _ edits: EditBatch
  ) throws(SyncError) -> RecordID {
    let id = RecordID(type: entity.type, key: migration.recordKey(key))
    guard entity.naturalKey != nil, try edits.record(id) == nil,
      let values = try? entity.fields(of: fields.payload)
    else { return id }
    let draft = Record(id: id, version: .unversioned, payload: fields.payload, fields: values)
    guard let naturalKey = entity.naturalKey(of: draft) else { return id }
    let same = try edits.transaction.records(ofType: entity.type, withNaturalKeys: [naturalKey])
    return same.first?.first?.id ?? id
  }

  private func checkValues(of fields: FieldMap) throws(SyncError) {
    for field in fields.fields {
      guard let value = fields[field] else { continue }
      do throws(JSONError) {
        _ = try JSONValueSlice(checking: value)
      } catch {
        throw SyncError(
          .invalidEdit, during: "migrating \(migration.name)",
          "The value for \(field) is not JSON: \(error).")
      }
    }
  }
}

/// The progress of a migration, saved in the migration's own transactions.
struct MigrationProgress: Hashable, Sendable, Codable {
  /// The legacy key up to which settings are done, in the order of UTF-8 bytes.
  var after: String?
  var isDone = false
  var counts = MigrationReport.Counts()

  static func load(_ name: String, from snapshot: any StoreSnapshot) throws(SyncError) -> MigrationProgress {
    try snapshot.value(of: key(name)) ?? MigrationProgress()
  }

  func save(_ name: String, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key(name))
  }

  private static func key(_ name: String) -> ValueKey<MigrationProgress> { ValueKey(.migrations, name) }
}
