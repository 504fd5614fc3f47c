public import SyncModels

/// The migration of legacy settings to records.
///
/// Each legacy key becomes one record, with a member from each dictionary.
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
