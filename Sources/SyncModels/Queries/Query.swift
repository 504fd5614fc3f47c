/// A selection of one type's live records, in an order.
public struct Query: Hashable, Sendable {
  /// The type to read.
  public var type: RecordType
  /// Which records; `nil` for all.
  public var condition: Condition?
  /// The fields to sort by, the most important first; ties go by key, ascending.
  public var order: [SortField]
  /// Only records whose key is greater than this; goes with an empty ``order``, to read a type in portions.
  public var afterKey: String?
  /// The most records to give; `nil` for all. None is negative.
  public var limit: Int?

  /// Describes a selection; without an order, records come by key.
  public init(
    _ type: RecordType, where condition: Condition? = nil, order: [SortField] = [], afterKey: String? = nil,
    limit: Int? = nil
  ) {
    self.type = type
    self.condition = condition
    self.order = order
    self.afterKey = afterKey
    self.limit = limit
  }

  /// A field to sort by, and its direction.
  public struct SortField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The field.
    public var field: FieldName
    /// Whether the greatest value comes first.
    public var isDescending: Bool

    /// Sorts by a field.
    public init(_ field: FieldName, descending: Bool = false) {
      self.field = field
      self.isDescending = descending
    }

    /// Sorts by a field, ascending.
    public init(stringLiteral value: String) {
      self.init(FieldName(value))
    }

    /// Sorts by a field, the greatest first.
    public static func descending(_ field: FieldName) -> SortField {
      SortField(field, descending: true)
    }
  }
}
