#if SQLite
  import CanonicalSync
  import SQLiteAdapters

  // The code of Docs/ManyStores.md.

  struct Tenants: Sendable {
    let schema: SyncSchema
    let pool: StorePool

    init(_ schema: SyncSchema) throws {
      self.schema = schema
      pool = try StorePool { store in try await store.register(schema) }
    }

    func sync(_ tenant: String, from source: any RemoteRecordSource) async throws -> SyncResult {
      try await pool.withStore(at: "tenants/\(tenant).db") { store in
        try await SyncEngine(schema: schema, store: store, source: source).sync()
      }
    }
  }
#endif
#if Postgres
  import PostgresAdapters

  func tenant(at address: PostgresAddress) throws -> PostgresStore {
    let pool = try PostgresPool(address)
    let store = try pool.store(inSchema: "tenant_17")
    return store
  }
#endif
