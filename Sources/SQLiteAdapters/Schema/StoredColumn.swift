#if SQLite
  import SyncModels

  /// The content of a column that is derived from the payload.
  enum StoredColumn: Hashable {
    case field(StoredField)
    case naturalKey(StoredNaturalKey)
  }

  /// The definition of a natural-key column.
  ///
  /// Two definitions are equal if they give the same keys for every payload.
  struct StoredNaturalKey: Hashable, Codable {
    var fields: [FieldName]
    /// The fields that are declared as references, in the same order.
    var keys: [FieldName]
    var normalization: NaturalKey.Normalization

    /// The natural key that a type declares, or `nil` if it declares none.
    init?(_ entity: Entity) {
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
    static let mark: Int64 = 2

    init(storedAs text: String) throws(SyncError) {
      self = try decoded(StoredNaturalKey.self, from: text, what: "declaration of a natural key")
    }
  }

  extension StoredColumn {
    /// Creates the column for a name and a mark.
    init(name: String, mark: Int64) throws(SyncError) {
      self =
        mark == StoredNaturalKey.mark
        ? .naturalKey(try StoredNaturalKey(storedAs: name))
        : .field(StoredField(name: FieldName(name), isKey: mark != 0))
    }

    /// The name and the mark of the column.
    func spelled() throws(SyncError) -> (name: String, mark: Int64) {
      switch self {
      case .field(let field): (field.name.rawValue, field.isKey ? 1 : 0)
      case .naturalKey(let key):
        (try encoded(key, what: "declaration of a natural key"), StoredNaturalKey.mark)
      }
    }
  }

  /// Reads natural keys from payloads, for records without their fields.
  struct NaturalKeyLifter {
    // A declaration reads and encodes the key. This one declares nothing else.
    private let entity: Entity
    private let spelling: NaturalKeySpelling?

    init(_ key: StoredNaturalKey) {
      entity = Entity(
        "keys", references: key.keys.map { .to("keys", by: $0) },
        naturalKey: NaturalKey(fields: key.fields, normalization: key.normalization))
      spelling = NaturalKeySpelling(entity)
    }

    /// A payload's natural key; `nil` for a payload that is not a JSON object.
    func key(of payload: Payload) -> String? {
      (try? entity.fields(of: payload)).flatMap { spelling?.key(of: $0) }
    }
  }

  /// Reads the values of some columns from payloads.
  struct ColumnLifter {
    private let fields: FieldLifter
    private let naturalKeys: [NaturalKeyLifter]

    /// The columns to read, in the order of the values.
    let columns: [StoredColumn]

    init(_ columns: some Sequence<StoredColumn>) {
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
    func values(in payload: Payload?) -> [FieldValue] {
      guard let payload else { return columns.map { _ in .null } }
      return fields.values(in: payload)
        + naturalKeys.map { $0.key(of: payload).map { .string($0) } ?? .null }
    }
  }
#endif
