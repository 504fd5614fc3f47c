import SyncJSON
public import SyncModels
import SyncPorts

/// The migration of legacy settings to records.
///
/// Each legacy key becomes one record, with a member from each dictionary. A record that is not here
/// is inserted as a default, which gives way to what the remote has; see ``LocalEdits/seed(_:key:)``.
///
/// ```swift
/// let migration = LegacyMigration(
///   "meters-2", to: "meters", keyField: "mac", fields: ["names": "name", "colours": "colour"])
/// ```
public struct LegacyMigration: Sendable {
  /// The migration's name. A migration of one name is done once.
  public var name: String
  /// The type of the records.
  public var type: RecordType
  /// The member for the legacy key itself, if there is one.
  public var keyField: FieldName?
  /// The member for the values of each dictionary.
  public var fields: [String: FieldName]
  /// The treatment of a record that exists already.
  public var existing: Existing
  /// Returns the record key for a legacy key: the same, by default.
  public var recordKey: @Sendable (String) -> String
  /// The number of records in a transaction, 1 or more.
  public var recordsAtOnce: Int

  /// Creates a migration.
  public init(
    _ name: String, to type: RecordType, keyField: FieldName? = nil, fields: [String: FieldName],
    existing: Existing = .fillGaps, recordsAtOnce: Int = 200,
    recordKey: @escaping @Sendable (String) -> String = { $0 }
  ) {
    self.name = name
    self.type = type
    self.keyField = keyField
    self.fields = fields
    self.existing = existing
    self.recordKey = recordKey
    self.recordsAtOnce = recordsAtOnce
  }

  /// The treatment of a record that the store has already.
  ///
  /// Such a record has the same key or, if the type has natural keys, the same natural key.
  public enum Existing: Hashable, Sendable {
    /// The record gets the members that it lacks or has as null. The others stay.
    case fillGaps
    /// The record stays as it is.
    case keep
    /// The record's members take the values of the settings.
    ///
    /// A record that is not here is inserted as an edit of a person, not as a default.
    case overwrite
  }
}

/// What a migration did.
///
/// A migration that was resumed after an interruption counts from its beginning.
public struct MigrationReport: Hashable, Sendable {
  /// The outcomes of the settings.
  public var counts = Counts()
  /// The reasons for refused settings, by legacy key; a hundred at most.
  public var refusals: [String: String] = [:]
  /// Whether the migration was already complete, so that nothing was read or done.
  public var wasDone = false
  /// Whether the migration stopped on request; the next call resumes it.
  public var wasCancelled = false

  /// The outcomes of settings, each legacy key counted once.
  public struct Counts: Hashable, Sendable, Codable {
    /// Records that did not exist before.
    public var inserted = 0
    /// Records that got members.
    public var merged = 0
    /// Records that had all members, or were to stay as they are.
    public var unchanged = 0
    /// Settings that could not become a record. They stay where they were.
    public var refused = 0

    /// Creates counts of zero.
    public init() {}
  }
}

extension MigrationReport.Counts {
  /// Decodes counts.
  ///
  /// - Throws: `DecodingError` for numbers out of range.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    inserted = try values.decodeCount(forKey: .inserted)
    merged = try values.decodeCount(forKey: .merged)
    unchanged = try values.decodeCount(forKey: .unchanged)
    refused = try values.decodeCount(forKey: .refused)
  }
}

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
    if earlier == nil, migration.existing != .overwrite {
      return try edits.seed(id, new) ? \.inserted : \.unchanged
    }
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
