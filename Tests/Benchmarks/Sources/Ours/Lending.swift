import CRecords
import CanonicalSync
import PostgresAdapters
import SQLiteAdapters
import SyncAdapters

/// First syncs of many tenants, each with its own store and a hundred records.
///
/// The stores are files of a directory, or schemas of a database.
struct Lending {
  private let directory: String
  private let tenants: Int
  private let schema: SyncSchema
  private let source: PreparedSource
  private static let records = 100

  init(options: Options) throws {
    directory = options.path
    tenants = Int(options.recipe.count) / Self.records
    schema = try SyncSchema(options.entities())
    var options = options
    options.recipe.count = Int64(Self.records)
    source = PreparedSource(options)
  }

  /// Asks a pool for all of them at once.
  func run() async throws -> Measurement {
    if isDatabase { return try await runInDatabase() }
    var measurement = Measurement()
    let pool = try StorePool()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for tenant in 0..<tenants {
        tasks.addTask { try await pool.withStore(at: path(tenant)) { try await sync($0) } }
      }
      try await tasks.waitForAll()
    }
    await pool.close()
    measurement.end(records: tenants * Self.records)
    return measurement
  }

  /// Opens and closes sixteen at a time.
  func runWithoutPool() async throws -> Measurement {
    var measurement = Measurement()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for tenant in 0..<tenants {
        if tenant >= 16 { try await tasks.next() }
        tasks.addTask {
          let (store, close) = try await open(tenant)
          try await sync(store)
          await close()
        }
      }
      try await tasks.waitForAll()
    }
    measurement.end(records: tenants * Self.records)
    return measurement
  }

  private func path(_ tenant: Int) -> String { "\(directory)/\(tenant).db" }

  // MARK: A database

  private var isDatabase: Bool { PostgresAddress.isAddress(directory) }

  private func open(
    _ tenant: Int
  ) async throws -> (store: any LocalStore, close: @Sendable () async -> Void) {
    if isDatabase {
      let address = try PostgresAddress(directory)
      let store = try await PostgresStore.open(
        PostgresAddress(parameters: address.parameters, schema: "tenant_\(tenant)"))
      return (store, { await store.close() })
    }
    let store = try await SQLiteStore.open(path: path(tenant))
    return (store, { await store.close() })
  }

  private func runInDatabase() async throws -> Measurement {
    var measurement = Measurement()
    let pool = try PostgresPool(PostgresAddress(directory))
    let stores = try (0..<tenants).map { try pool.store(inSchema: "tenant_\($0)") }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for store in stores { tasks.addTask { try await sync(store) } }
      try await tasks.waitForAll()
    }
    measurement.end(records: tenants * Self.records)
    await pool.close()
    return measurement
  }

  /// Reads a record of one store after another, by sixteen readers of a pool.
  func read() async throws -> Measurement {
    let pool = try PostgresPool(PostgresAddress(directory))
    let stores = try (0..<tenants).map { try pool.store(inSchema: "tenant_\($0)") }
    for store in stores { try await store.register(schema) }
    var measurement = Measurement()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for reader in 0..<16 {
        tasks.addTask {
          for place in 0..<2000 {
            _ = try await stores[(reader * 61 + place * 7) % stores.count].read {
              (snapshot) throws(SyncError) in try snapshot.records(Query(schema.entities[0].type, limit: 1))
            }
          }
        }
      }
      try await tasks.waitForAll()
    }
    measurement.end(records: 32_000)
    await pool.close()
    return measurement
  }

  private func sync(_ store: any LocalStore) async throws {
    let result = try await SyncEngine(schema: schema, store: store, source: source).sync()
    guard result.total.inserted == Self.records else { throw Options.Usage(message: "\(result)") }
  }
}
