package import SyncModels

/// The registered types of a store, combined with a store object's declarations.
///
/// Another process may have registered other declarations meanwhile. Records read here still have
/// the fields that this object declared.
package struct Catalog<Table> {
  package private(set) var version: Int64 = -1
  private var generation = -1
  /// The most recently registered declarations, by type.
  package private(set) var stored: [Entity] = []
  package private(set) var tables: [RecordType: Table] = [:]
  /// The types whose references have to be read again, or whose columns have to be filled.
  package var unfinished: Set<RecordType> = []

  /// Creates a catalog that no store has.
  package init() {}

  /// Creates a catalog without types.
  package init(version: Int64, _ declarations: Declarations) {
    (self.version, generation) = (version, declarations.generation)
  }

  /// Whether the catalog is one of these.
  package func isOf(version: Int64, _ declarations: Declarations) -> Bool {
    version == self.version && declarations.generation == generation
  }

  /// Adds a type.
  package mutating func add(_ entity: Entity, _ table: Table) {
    stored.append(entity)
    tables[entity.type] = table
  }

  /// The table of a type, which must be registered.
  package func table(_ type: RecordType, during operation: @autoclosure () -> String) throws(SyncError)
    -> Table
  {
    if let table = tables[type] { return table }
    throw SyncError(.invalidConfiguration, during: operation(), "\(type) is not registered in the store.")
  }

  /// Whether the store is prepared for a schema.
  package func isPrepared(for schema: SyncSchema) -> Bool {
    let stored = Dictionary(stored.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
    return schema.entities.allSatisfy { stored[$0.type] == $0 && !unfinished.contains($0.type) }
  }
}

extension Catalog: Sendable where Table: Sendable {}

/// The declared columns of the types' tables, from the rows of the table `fields`.
package struct TypeColumns {
  private var fields: [RecordType: [DerivedColumns.Column<StoredField>]] = [:]
  private var naturalKeys: [RecordType: [DerivedColumns.Column<StoredNaturalKey>]] = [:]

  package init() {}

  /// Adds a column, by the text and the mark of what it holds.
  package mutating func add(
    _ column: String, of type: RecordType, holding name: String, mark: Int64, isFilled: Bool
  ) throws(SyncError) {
    switch try StoredColumn(name: name, mark: mark) {
    case .field(let field): fields[type, default: []].append(.init(field, name: column, isFilled: isFilled))
    case .naturalKey(let key):
      naturalKeys[type, default: []].append(.init(key, name: column, isFilled: isFilled))
    }
  }

  /// The columns of a type as one of its declarations uses them.
  package func derived(for entity: Entity) -> DerivedColumns {
    DerivedColumns(of: entity, fields: fields[entity.type] ?? [], naturalKeys: naturalKeys[entity.type] ?? [])
  }
}
