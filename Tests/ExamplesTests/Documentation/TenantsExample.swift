#if SQLite
  import CanonicalSync
  import SQLiteAdapters

  // The code of Docs/ManyStores.md.

  struct Tenants: Sendable {
    let schema: SyncSchema
    let source: @Sendable (_ tenant: String) throws -> any RemoteRecordSource
    let pool: StorePool

    init(
      schema: SyncSchema, source: @escaping @Sendable (_ tenant: String) throws -> any RemoteRecordSource
    ) throws {
      self.schema = schema
      self.source = source
      pool = try StorePool { store in try await store.register(schema) }
    }

    func sync(_ tenant: String) async throws -> SyncResult {
      try await pool.withStore(at: "tenants/\(tenant).db") { store in
        try await SyncEngine(schema: schema, store: store, source: source(tenant)).sync()
      }
    }
  }
#endif
