public import SyncModels

/// How legacy settings become records: one record for each key, with a member from each dictionary.
///
/// ```swift
/// let migration = LegacyMigration(
///   "meters-2", to: "meters", keyField: "mac", fields: ["names": "name", "colours": "colour"])
/// ```
public struct LegacyMigration: Sendable {
  /// The migration's name, under which it is done once.
  public var name: String
  /// The type of the records.
  public var type: RecordType
  /// The member that holds the legacy key itself, if one is to.
  public var keyField: FieldName?
  /// Which dictionary's values become which member.
  public var fields: [String: FieldName]
  /// What happens to a record that is there already.
  public var existing: Existing
  /// The key of the record that a legacy key is to become: the same, by default.
  public var recordKey: @Sendable (String) -> String
  /// How many records a transaction takes up, 1 or more.
  public var recordsAtOnce: Int

  /// Describes a migration.
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

  /// What happens to a record that the store has already, under the same key or, where the type has one, the same natural key.
  public enum Existing: Hashable, Sendable {
    /// It gets the members that it lacks, or has as null; the others stay.
    case fillGaps
    /// It stays as it is.
    case keep
    /// Its members become what the settings say.
    case overwrite
  }
}

/// What a migration did; one that was interrupted and has gone on counts from its beginning.
public struct MigrationReport: Hashable, Sendable {
  /// What became of the settings.
  public var counts = Counts()
  /// Settings that could not become a record, by legacy key, with the reason; a hundred at most.
  public var refusals: [String: String] = [:]
  /// Whether it was complete before, so that nothing was read or done.
  public var wasDone = false
  /// Whether it stopped because it was asked to; the next call goes on from there.
  public var wasCancelled = false

  /// What became of settings, each legacy key counted once.
  public struct Counts: Hashable, Sendable, Codable {
    /// Records that were not there before.
    public var inserted = 0
    /// Records that got members.
    public var merged = 0
    /// Records that had all of it, or were to stay as they are.
    public var unchanged = 0
    /// Settings that could not become a record; they are where they were.
    public var refused = 0

    /// Counts nothing.
    public init() {}
  }
}

extension MigrationReport.Counts {
  /// Reads what was counted so far.
  ///
  /// - Throws: `DecodingError` for numbers that nobody counts up to.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    inserted = try values.decodeCount(forKey: .inserted)
    merged = try values.decodeCount(forKey: .merged)
    unchanged = try values.decodeCount(forKey: .unchanged)
    refused = try values.decodeCount(forKey: .refused)
  }
}
