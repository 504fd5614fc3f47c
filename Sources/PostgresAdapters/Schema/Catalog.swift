#if Postgres
  import SyncModels
  import Synchronization

  /// Keeps the declarations of a store object, for all its connections.
  final class DeclarationKeeper: Sendable {
    private let state = Mutex(Declarations())

    var value: Declarations { state.withLock { $0 } }

    func declare(_ schema: SyncSchema) { state.withLock { $0.declare(schema) } }
  }

  /// The registered types of the store, combined with this store object's declarations.
  ///
  /// Another server may have registered other declarations meanwhile. Records read here still have
  /// the fields that this object declared.
  struct Catalog {
    var version: Int64 = -1
    var generation = -1
    /// The most recently registered declarations, by type.
    var stored: [Entity] = []
    var tables: [RecordType: EntityTable] = [:]
    /// The types with unread references or unfilled columns.
    var unfinished: Set<RecordType> = []

    /// The table of a type, which must be registered.
    func table(_ type: RecordType, during operation: @autoclosure () -> String) throws(SyncError)
      -> EntityTable
    {
      if let table = tables[type] { return table }
      throw SyncError(.invalidConfiguration, during: operation(), "\(type) is not registered in the store.")
    }
  }

  extension Connection {
    /// Reads the registered types unless they are remembered. Call it in each transaction.
    func refreshCatalog(_ version: Int64, _ declarations: Declarations) throws(SyncError) {
      guard version != cache.catalog.version || declarations.generation != cache.catalog.generation else {
        return
      }
      var catalog = Catalog(version: version, generation: declarations.generation)
      let operation = "reading the registered types"
      let reads = try send(
        [
          Statement(
            "SELECT type, name, mark, column_name, is_filled FROM fields WHERE is_declared ORDER BY type, column_name"
          ),
          Statement(
            "SELECT type, declaration, table_name, unread_after IS NOT NULL OR filled_id IS NOT NULL FROM entities ORDER BY type"
          ),
          Statement("SELECT digest_key FROM store"),
        ], during: operation)
      let fields = try result(of: reads[0], during: operation)
      var columns: [RecordType: [DerivedColumns.Column<StoredField>]] = [:]
      var naturalKeys: [RecordType: [DerivedColumns.Column<StoredNaturalKey>]] = [:]
      for row in try fields.map({ $0 }) {
        let type = RecordType(row.text(0))
        switch try StoredColumn(name: row.text(1), mark: row.integer(2)) {
        case .field(let field):
          columns[type, default: []].append(.init(field, name: row.text(3), isFilled: row.bool(4)))
        case .naturalKey(let key):
          naturalKeys[type, default: []].append(.init(key, name: row.text(3), isFilled: row.bool(4)))
        }
      }
      let entities = try result(of: reads[1], during: operation)
      let digest = PayloadDigest(key: try result(of: reads[2], during: operation).first?.bytes(0) ?? [])
      for row in try entities.map({ $0 }) {
        let entity = try decoded(Entity.self, from: row.text(1), what: "declaration of a type")
        catalog.stored.append(entity)
        let declared = declarations.entities[entity.type] ?? entity
        let derived = DerivedColumns(
          of: declared, fields: columns[entity.type] ?? [], naturalKeys: naturalKeys[entity.type] ?? [])
        catalog.tables[entity.type] = EntityTable(declared, table: row.text(2), derived, digest)
        if row.bool(3) { catalog.unfinished.insert(entity.type) }
      }
      cache.catalog = catalog
    }
  }
#endif
