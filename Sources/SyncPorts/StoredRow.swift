public import SyncModels

/// One row of a store: a live record, or the version that a deletion left.
public struct StoredRow: Hashable, Sendable, Codable {
  /// The record's id.
  public let id: RecordID
  /// The version of the last copy or deletion from the remote.
  public var version: Version
  /// The remote's tag of that copy.
  public var entityTag: String?
  /// The live copy; `nil` for a deleted record.
  public var record: Record?
  /// Whether the current or last complete listing held the record.
  public var isMarked: Bool

  /// Creates a row.
  public init(id: RecordID, version: Version, entityTag: String?, record: Record?, isMarked: Bool) {
    self.id = id
    self.version = version
    self.entityTag = entityTag
    self.record = record
    self.isMarked = isMarked
  }
}

/// A selection of a type's rows.
public enum RowSelection: Hashable, Sendable, CaseIterable {
  /// Live and deleted rows.
  case all
  /// Live rows without a mark: the candidates of a sweep.
  case unmarked
}
