#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import Synchronization

  /// Keeps the declarations of a store object, for all its connections.
  final class DeclarationKeeper: Sendable {
    private let state = Mutex(Declarations())

    var value: Declarations { state.withLock { $0 } }

    func declare(_ schema: SyncSchema) { state.withLock { $0.declare(schema) } }
  }

  typealias Catalog = CanonicalSyncDatabases.Catalog<EntityTable>

  extension Connection {
    /// Reads the registered types unless they are remembered. Call it in each transaction.
    func refreshCatalog(_ version: Int64, _ declarations: Declarations) throws(SyncError) {
      if cache.catalog.isOf(version: version, declarations) { return }
      let operation = "reading the registered types"
      let reads = try send(
        [
          Statement(
            "SELECT column_name, type, name, mark, is_filled FROM fields WHERE is_declared ORDER BY type, column_name"
          ),
          Statement(
            "SELECT declaration, table_name, unread_after IS NOT NULL OR filled_id IS NOT NULL FROM entities ORDER BY type"
          ),
          Statement("SELECT digest_key FROM store"),
        ], during: operation)
      var columns = TypeColumns()
      for row in try result(of: reads[0], during: operation) {
        try columns.add(
          row.text(0), of: RecordType(row.text(1)), holding: row.text(2), mark: row.integer(3),
          isFilled: row.bool(4))
      }
      let entities = try result(of: reads[1], during: operation)
      let digest = PayloadDigest(key: try result(of: reads[2], during: operation).first?.bytes(0) ?? [])
      var catalog = Catalog(version: version, declarations)
      for row in entities {
        let entity = try decoded(Entity.self, from: row.text(0), what: "declaration of a type")
        let declared = declarations.entities[entity.type] ?? entity
        catalog.add(
          entity, EntityTable(declared, table: row.text(1), columns.derived(for: declared), digest))
        if row.bool(2) { catalog.unfinished.insert(entity.type) }
      }
      cache.catalog = catalog
    }
  }
#endif
