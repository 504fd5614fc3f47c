/// A selection of one type's live records, in an order.
public struct Query: Hashable, Sendable {
  /// The type to read.
  public var type: RecordType
  /// The condition that selects records; `nil` for all.
  public var condition: Condition?
  /// The fields to sort by, the most important first. Ties order by key, ascending.
  public var order: [SortField]
  /// Selects only records with a greater key.
  ///
  /// It requires an empty ``order``, and reads a type in portions.
  public var afterKey: String?
  /// The most records to return; `nil` for all. Never negative.
  public var limit: Int?

  /// Creates a query. Without an order, records come by key.
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
    /// What the field's texts are compared as; `nil` for their bytes.
    ///
    /// Texts of one meaning are sorted by key.
    public var meaning: TextMeaning?

    /// Sorts by a field.
    ///
    /// A declared index serves an order without a `meaning`. With one, all selected records are
    /// sorted.
    public init(_ field: FieldName, descending: Bool = false, as meaning: TextMeaning? = nil) {
      self.field = field
      self.isDescending = descending
      self.meaning = meaning
    }

    /// Sorts by a field, ascending.
    public init(stringLiteral value: String) {
      self.init(FieldName(value))
    }

    /// Sorts by a field, the least value first.
    public static func ascending(_ field: FieldName, as meaning: TextMeaning? = nil) -> SortField {
      SortField(field, as: meaning)
    }

    /// Sorts by a field, the greatest first.
    public static func descending(_ field: FieldName, as meaning: TextMeaning? = nil) -> SortField {
      SortField(field, descending: true, as: meaning)
    }

    /// The value by which a record with a field's value is sorted.
    public func value(of field: FieldValue) -> FieldValue { meaning?.value(of: field) ?? field }
  }
}
