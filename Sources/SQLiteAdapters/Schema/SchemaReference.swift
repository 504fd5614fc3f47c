#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The schema of an intact file, made in memory.
  struct SchemaReference {
    private let connection: Connection

    /// - Parameter layout: The number of the layout; the newest one by default.
    init(layout: Int = Migration.all.count) throws(SyncError) {
      connection = try Connection(
        uri: "file::memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: .zero)
      try connection.migrate(by: Array(Migration.all.prefix(layout)))
    }

    /// The tables, indexes and triggers that every store has, by name.
    func objects() throws(SyncError) -> [String: String] { try connection.schemaObjects() }

    /// The first page of each table that every store has.
    func roots() throws(SyncError) -> [String: Int64] {
      var roots: [String: Int64] = [:]
      try connection.forEachRow("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'") {
        row throws(SyncError) in
        roots[row.text(0)] = row.integer(1)
      }
      return roots
    }

    /// The table, indexes and view of a type, by name.
    func objects(
      of entity: Entity, columns: [String], declared: [StoredColumn: String]
    ) throws(SyncError) -> [String: String] {
      let others = try connection.schemaObjects()
      let made = TypeObjects(entity)
      let statements = made.creation(with: columns) + made.indexes(declared) + made.view(declared)
      for statement in statements { try connection.execute(statement) }
      return try connection.schemaObjects().filter { others[$0.key] == nil }
    }
  }

  extension Connection {
    /// The statements that made the tables, indexes, triggers and views, by name.
    func schemaObjects() throws(SyncError) -> [String: String] {
      var objects: [String: String] = [:]
      try forEachRow("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
      {
        row throws(SyncError) in
        objects[row.text(0)] = row.text(1)
      }
      return objects
    }
  }
#endif
