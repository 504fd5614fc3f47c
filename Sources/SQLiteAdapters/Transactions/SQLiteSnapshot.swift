#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// Reads within one transaction of a connection.
  class SQLiteSnapshot: StoreSnapshot {
    final let connection: Connection
    final let catalog: Catalog
    final let cache: ConnectionCache

    init(on connection: Connection) {
      self.connection = connection
      cache = connection.cache
      catalog = connection.catalog
    }

    func storeIdentity() throws(SyncError) -> String {
      try connection.storeIdentity()
    }

    func registeredEntities() -> [Entity] { catalog.stored }

    // MARK: Records

    func records(_ query: Query) throws(SyncError) -> [Record] {
      let table = try catalog.table(query.type, during: "reading \(query.type)")
      let compiled = CompiledQuery(query, in: table)
      let statement = try connection.statement(compiled.sql)
      defer { statement.clear() }
      try statement.bind(compiled.parameters)
      guard let residual = compiled.residual else {
        var rows = RecordRows(statement, of: table)
        return try rows.rest()
      }
      var records: [Record] = []
      let limit = max(0, query.limit ?? .max)
      while records.count < limit, try statement.step() {
        let record = statement.record(of: table)
        if residual.isSatisfied(by: record, of: table.entity) { records.append(record) }
      }
      return records
    }

    func count(_ query: Query) throws(SyncError) -> Int {
      let table = try catalog.table(query.type, during: "counting \(query.type)")
      if query.condition == nil, query.afterKey == nil { return try liveCount(table) }
      let compiled = CompiledQuery(query, in: table, for: .count)
      if compiled.residual != nil {
        var all = query
        all.limit = nil
        return try records(all).count
      }
      let statement = try connection.statement(compiled.sql)
      defer { statement.clear() }
      try statement.bind(compiled.parameters)
      return try statement.step() ? Int(statement.integer(0)) : 0
    }

    func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?] {
      var records: [Record?] = []
      records.reserveCapacity(ids.count)
      var rows = BatchStatement(self, \.recordByID)
      for id in ids {
        guard let statement = try rows.select(id) else {
          records.append(nil)
          continue
        }
        defer { statement.reset() }
        records.append(try statement.step() ? rows.table.map { statement.record(of: $0) } : nil)
      }
      return records
    }

    final func liveCount(_ table: EntityTable) throws(SyncError) -> Int {
      let sql = """
        SELECT (SELECT count(*) FROM \(table.name)) - (SELECT count(*) FROM \(table.name) WHERE payload IS NULL)
        """
      return try connection.first(sql) { Int($0.integer(0)) } ?? 0
    }

    // MARK: Kept values

    func value(forKey key: String) throws(SyncError) -> [UInt8]? {
      try connection.first("SELECT value FROM state WHERE key = ?", .text(key)) { $0.bytes(0) }
    }

    func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
      guard limit > 0 else { return [] }
      let isFirst = after.map { $0.precedesByUTF8(prefix) } ?? true
      let statement = try connection.statement(
        "SELECT key FROM state WHERE key \(isFirst ? ">=" : ">") ? ORDER BY key")
      try statement.bind(isFirst ? prefix : after, at: 1)
      defer { statement.reset() }
      var keys: [String] = []
      while keys.count < limit, try statement.step() {
        let key = statement.text(0)
        // All names with the prefix are adjacent.
        guard key.utf8.starts(with: prefix.utf8) else { break }
        keys.append(key)
      }
      return keys
    }

    /// Forgets what other connections' writes have made untrue.
    ///
    /// Call it before the cache is asked for edits or new records.
    final func refreshCache() throws(SyncError) {
      try cache.refresh { () throws(SyncError) in try connection.dataVersion() }
    }

    /// The marks of a type.
    final func marks(of type: RecordType) -> TypeMarks { cache.marks(of: type, on: connection) }
  }

  extension Connection {
    func storeIdentity() throws(SyncError) -> String {
      let statement = try meta("identity")
      defer { statement.reset() }
      return try statement.step() ? statement.text(0) : ""
    }
  }
#endif
