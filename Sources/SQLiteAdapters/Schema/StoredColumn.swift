#if SQLite
  import SyncModels

  /// What a column holds that is made of the payload.
  enum StoredColumn: Hashable {
    case field(StoredField)
    case naturalKey(StoredNaturalKey)
  }

  /// A natural key as a column holds it: two declarations that make the same of every payload are equal.
  struct StoredNaturalKey: Hashable, Codable {
    var fields: [FieldName]
    /// Those of the fields that are declared as references, in the same order.
    var keys: [FieldName]
    var normalization: NaturalKey.Normalization

    /// The natural key that a type declares, if it does.
    init?(_ entity: Entity) {
      guard let naturalKey = entity.naturalKey else { return nil }
      fields = naturalKey.fields
      keys = fields.filter { field in entity.references.contains { $0.field == field } }
      normalization = naturalKey.normalization
    }
  }

  // How the table `fields` names columns: by a field's name, or by a natural key's whole declaration.
  extension StoredNaturalKey {
    /// What stands in `is_key`.
    static let mark: Int64 = 2

    init(storedAs text: String) throws(SyncError) {
      self = try decoded(StoredNaturalKey.self, from: text, what: "declaration of a natural key")
    }
  }

  extension StoredColumn {
    /// The column that a name and a mark stand for.
    init(name: String, mark: Int64) throws(SyncError) {
      self =
        mark == StoredNaturalKey.mark
        ? .naturalKey(try StoredNaturalKey(storedAs: name))
        : .field(StoredField(name: FieldName(name), isKey: mark != 0))
    }

    /// The name that stands for the column, and the mark beside it.
    func spelled() throws(SyncError) -> (name: String, mark: Int64) {
      switch self {
      case .field(let field): (field.name.rawValue, field.isKey ? 1 : 0)
      case .naturalKey(let key):
        (try encoded(key, what: "declaration of a natural key"), StoredNaturalKey.mark)
      }
    }
  }

  /// Takes natural keys out of payloads, where records do not bring the fields along.
  struct NaturalKeyLifter {
    // How it is read and spelled is the declaration's business, so a declaration of nothing else does it.
    private let entity: Entity
    private let spelling: NaturalKeySpelling?

    init(_ key: StoredNaturalKey) {
      entity = Entity(
        "keys", references: key.keys.map { .to("keys", by: $0) },
        naturalKey: NaturalKey(fields: key.fields, normalization: key.normalization))
      spelling = NaturalKeySpelling(entity)
    }

    /// A payload's natural key; what is no JSON object has none.
    func key(of payload: Payload) -> String? {
      (try? entity.fields(of: payload)).flatMap { spelling?.key(of: $0) }
    }
  }

  /// Takes what some columns hold out of payloads.
  struct ColumnLifter {
    private let fields: FieldLifter
    private let naturalKeys: [NaturalKeyLifter]

    /// The columns that values are given for, in their order.
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

    /// The values in the order of the columns; nulls where there is no payload.
    func values(in payload: Payload?) -> [FieldValue] {
      guard let payload else { return columns.map { _ in .null } }
      return fields.values(in: payload)
        + naturalKeys.map { $0.key(of: payload).map { .string($0) } ?? .null }
    }
  }
#endif
