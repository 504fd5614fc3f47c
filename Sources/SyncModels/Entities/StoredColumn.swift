/// The content of a column that is derived from the payload.
package enum StoredColumn: Hashable {
  case field(StoredField)
  case naturalKey(StoredNaturalKey)
}

/// The definition of a natural-key column.
///
/// Two definitions are equal if they give the same keys for every payload.
package struct StoredNaturalKey: Hashable, Codable {
  package var fields: [FieldName]
  /// The fields that are declared as references, in the same order.
  package var keys: [FieldName]
  package var normalization: NaturalKey.Normalization

  /// The natural key that a type declares, or `nil` if it declares none.
  package init?(_ entity: Entity) {
    guard let naturalKey = entity.naturalKey else { return nil }
    fields = naturalKey.fields
    keys = fields.filter { field in entity.references.contains { $0.field == field } }
    normalization = naturalKey.normalization
  }
}

// The table `fields` identifies a column by a field's name, or by a natural key's whole
// declaration.
extension StoredNaturalKey {
  /// The value in `is_key`.
  package static let mark: Int64 = 2

  /// Reads a definition from its text.
  package init(storedAs text: String) throws(SyncError) {
    self = try decoded(StoredNaturalKey.self, from: text, what: "declaration of a natural key")
  }
}

extension StoredColumn {
  /// Creates the column for a name and a mark.
  package init(name: String, mark: Int64) throws(SyncError) {
    self =
      mark == StoredNaturalKey.mark
      ? .naturalKey(try StoredNaturalKey(storedAs: name))
      : .field(StoredField(name: FieldName(name), isKey: mark != 0))
  }

  /// The name and the mark of the column.
  package func spelled() throws(SyncError) -> (name: String, mark: Int64) {
    switch self {
    case .field(let field): (field.name.rawValue, field.isKey ? 1 : 0)
    case .naturalKey(let key):
      (try encoded(key, what: "declaration of a natural key"), StoredNaturalKey.mark)
    }
  }
}

/// Reads natural keys from payloads, for records without their fields.
package struct NaturalKeyLifter: Sendable {
  // A declaration reads and encodes the key. This one declares nothing else.
  private let entity: Entity
  private let spelling: NaturalKeySpelling?

  /// Creates a reader of the keys of a definition.
  package init(_ key: StoredNaturalKey) {
    entity = Entity(
      "keys", references: key.keys.map { .to("keys", by: $0) },
      naturalKey: NaturalKey(fields: key.fields, normalization: key.normalization))
    spelling = NaturalKeySpelling(entity)
  }

  /// A payload's natural key; `nil` for a payload that is not a JSON object.
  package func key(of payload: Payload) -> String? {
    (try? entity.fields(of: payload)).flatMap { spelling?.key(of: $0) }
  }
}

/// Reads the values of some columns from payloads.
package struct ColumnLifter {
  private let fields: FieldLifter
  private let naturalKeys: [NaturalKeyLifter]

  /// The columns to read, in the order of the values.
  package let columns: [StoredColumn]

  /// Creates a reader of some columns.
  package init(_ columns: some Sequence<StoredColumn>) {
    var fields: [StoredField] = []
    var naturalKeys: [StoredNaturalKey] = []
    for column in columns {
      switch column {
      case .field(let field): fields.append(field)
      case .naturalKey(let key): naturalKeys.append(key)
      }
    }
    self.fields = FieldLifter(fields)
    self.naturalKeys = naturalKeys.map { NaturalKeyLifter($0) }
    self.columns = fields.map { .field($0) } + naturalKeys.map { .naturalKey($0) }
  }

  /// The values in column order; nulls without a payload.
  package func values(in payload: Payload?) -> [FieldValue] {
    guard let payload else { return columns.map { _ in .null } }
    return fields.values(in: payload)
      + naturalKeys.map { $0.key(of: payload).map { .string($0) } ?? .null }
  }
}
