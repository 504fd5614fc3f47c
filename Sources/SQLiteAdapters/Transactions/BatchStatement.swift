#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// One statement of the types' tables, for a batch with few changes of type.
  ///
  /// The statement is looked up when the type changes, not for each record.
  struct BatchStatement {
    private let connection: Connection
    private let catalog: Catalog
    private let sql: KeyPath<EntityTable, String>
    private var type: RecordType?
    private(set) var table: EntityTable?
    private var statement: Statement?

    init(_ snapshot: SQLiteSnapshot, _ sql: KeyPath<EntityTable, String>) {
      connection = snapshot.connection
      catalog = snapshot.catalog
      self.sql = sql
    }

    /// The statement for a record's type, with the key as its first parameter.
    ///
    /// It is `nil` if the type is not registered.
    mutating func select(_ id: RecordID) throws(SyncError) -> Statement? {
      let statement = try statement(for: id)
      try statement?.bind(id.key, at: 1)
      return statement
    }

    /// The statement for a record's type, without bindings.
    mutating func statement(for id: RecordID) throws(SyncError) -> Statement? {
      if type != id.type {
        type = id.type
        table = catalog.tables[id.type]
        statement = nil
        if let table { statement = try connection.statement(table[keyPath: sql]) }
      }
      return statement
    }

    /// The statement and the table of a record's type, which must be registered.
    mutating func demand(_ id: RecordID, during operation: String) throws(SyncError) -> (
      Statement, EntityTable
    ) {
      let found = try demandStatement(for: id, during: operation)
      try found.0.bind(id.key, at: 1)
      return found
    }

    /// As ``demand(_:during:)``, without bindings.
    mutating func demandStatement(
      for id: RecordID, during operation: @autoclosure () -> String
    ) throws(SyncError) -> (Statement, EntityTable) {
      let statement = try statement(for: id)
      guard let statement, let table else {
        throw SyncError(
          .invalidConfiguration, during: "\(operation()) \(id.type)",
          "\(id.type) is not registered in the store.")
      }
      return (statement, table)
    }
  }
#endif
