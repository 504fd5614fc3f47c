import CRecords
import CanonicalSync
import SQLiteAdapters
import SyncAdapters

/// First syncs of many tenants, each with its own store and a hundred records.
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
          let store = try await SQLiteStore.open(path: path(tenant))
          try await sync(store)
          await store.close()
        }
      }
      try await tasks.waitForAll()
    }
    measurement.end(records: tenants * Self.records)
    return measurement
  }

  private func path(_ tenant: Int) -> String { "\(directory)/\(tenant).db" }

  private func sync(_ store: SQLiteStore) async throws {
    let result = try await SyncEngine(schema: schema, store: store, source: source).sync()
    guard result.total.inserted == Self.records else { throw Options.Usage(message: "\(result)") }
  }
}
