/// The members of a JSON object that hold a record's id, time and state.
public struct RecordLayout: Hashable, Sendable {
  /// The record's key: a string, or a whole number, which is taken as it is spelled.
  public var id: FieldName
  /// When the remote last modified the record: a whole number. Null or missing counts as 1970.
  public var modifiedAt: FieldName?
  /// Whether a record whose ``modifiedAt`` is not a number is malformed.
  ///
  /// Otherwise such a value counts as 1970.
  public var requiresTime: Bool
  /// The unit of ``modifiedAt``.
  public var unit: TimeUnit
  /// The member that is `true` in a tombstone.
  public var deleted: FieldName?
  /// The remote's entity tag of the copy, kept as spelled.
  public var entityTag: FieldName?

  /// Creates a layout.
  public init(
    id: FieldName = "id", modifiedAt: FieldName? = nil, requiresTime: Bool = true,
    unit: TimeUnit = .milliseconds, deleted: FieldName? = nil, entityTag: FieldName? = nil
  ) {
    self.id = id
    self.modifiedAt = modifiedAt
    self.requiresTime = requiresTime
    self.unit = unit
    self.deleted = deleted
    self.entityTag = entityTag
  }

  /// The unit of a remote's times since 1970.
  public enum TimeUnit: String, Hashable, Sendable {
    /// Thousandths of a second.
    case milliseconds
    /// Millionths of a second.
    case microseconds

    func timestamp(_ number: Int64) -> Timestamp {
      switch self {
      case .milliseconds: Timestamp(milliseconds: number)
      case .microseconds: Timestamp(microseconds: number)
      }
    }
  }
}
