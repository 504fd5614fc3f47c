#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Opens a damaged file, or a repaired copy of it.
  struct SalvageOpening: Sendable {
    let path: String
    let scratch: String

    /// Opens the file for reading.
    ///
    /// A file that SQLite can open is read in place, so that a store in use is read as of one
    /// instant. Otherwise a copy is repaired: the header, whose values are known for every store,
    /// and the definitions of the tables that every store has.
    func open() throws(SyncError) -> Connection {
      guard csqlite_kind_of_path(path) == 1, csqlite_is_readable(path) != 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the damaged store", "\(path) is missing, or cannot be read.")
      }
      var refusal: SyncError
      do throws(SyncError) {
        return try usable(path, options: "", isWhole: true)
      } catch {
        refusal = error
      }
      guard refusal.isOfDamagedFile else { throw refusal }
      // First with the log, which may be damaged as well.
      for hasLog in [true, false] {
        try makeCopy(hasLog: hasLog)
        do throws(SyncError) {
          try repairSchema()
          return try usable(scratch, options: hasLog ? "" : "?immutable=1", isWhole: false)
        } catch {
          guard error.isOfDamagedFile else { throw error }
          refusal = error
        }
      }
      throw SyncError(
        .storeUnreadable, during: "opening the damaged store",
        "Nothing of \(path) can be read: it is no store, or the list of its tables is lost.",
        underlying: refusal)
    }

    /// Removes the copy.
    func removeCopy() {
      for suffix in Self.suffixes { _ = csqlite_remove(scratch + suffix) }
    }

    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// Opens a file for reading, if its list of tables can be read.
    ///
    /// - Parameter isWhole: Whether each listed table has to have a definition that can be parsed.
    private func usable(
      _ path: String, options: String, isWhole: Bool
    ) throws(SyncError) -> Connection {
      let connection = try connection(path, flags: SQLITE_OPEN_READONLY, options: options)
      try connection.execute("PRAGMA query_only = 1")
      let tables = try connection.transaction(.read) { () throws(SyncError) -> Int64? in
        try connection.value(
          "SELECT count(*) FROM sqlite_schema WHERE name IN ('outbox', 'state', 'entities')")
      }
      guard let tables, tables > 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the damaged store", "The file has no table of a store.")
      }
      if isWhole, try !damagedDefinitions(on: connection).isEmpty {
        throw SyncError(
          .storeUnreadable, during: "opening the damaged store", "The definition of a table is damaged.")
      }
      return connection
    }

    private func connection(_ path: String, flags: Int32, options: String) throws(SyncError) -> Connection {
      let connection = try Connection(
        uri: StoreOpening.uri(path) + options, flags: flags, busyTimeout: .seconds(5))
      connection.setCheckpointsOnClose(false)
      // A table whose definition cannot be parsed is then missing, instead of the whole file.
      connection.allowDamagedSchema()
      try connection.execute("PRAGMA writable_schema = 1")
      return connection
    }

    private func makeCopy(hasLog: Bool) throws(SyncError) {
      removeCopy()
      // SQLite keeps the log beside the file, not beside a link to it.
      let path = try StoreOpening.resolved(path)
      var copied = csqlite_copy_file(path, scratch) == 0
      if copied, hasLog, csqlite_kind_of_path(path + "-wal") == 1 {
        copied = csqlite_copy_file(path + "-wal", scratch + "-wal") == 0
      }
      guard copied, csqlite_repair_header(scratch, UInt32(clamping: Migration.all.count)) == 0 else {
        removeCopy()
        throw SyncError(
          .storeFull, during: "copying the damaged store",
          "\(scratch) cannot be written; a copy needs as much room as the store.")
      }
    }

    /// The tables that every store has and whose definition differs, with the row of each.
    ///
    /// A definition is found by its name or by its text.
    private func damagedDefinitions(
      on connection: Connection
    ) throws(SyncError) -> [(row: Int64, name: String, sql: String)] {
      let intended = try SchemaReference().objects().filter { $0.value.hasPrefix("CREATE TABLE ") }
      var damaged: [(row: Int64, name: String, sql: String)] = []
      try connection.transaction(.read) { () throws(SyncError) in
        let sql = "SELECT rowid, type, name, tbl_name, CAST(sql AS BLOB) FROM sqlite_schema"
        try connection.forEachRow(sql) { row throws(SyncError) in
          let (type, name, table) = (row.value(1).text, row.value(2).text, row.value(3).text)
          let text = String(decoding: row.bytes(4), as: UTF8.self)
          // An index has its table's name, and a name of its own.
          let own =
            name.flatMap { intended[$0] == nil ? nil : $0 } ?? intended.first { $0.value == text }?.key
          guard let own, let sql = intended[own] else { return }
          if type != "table" || name != own || table != own || text != sql {
            damaged.append((row.integer(0), own, sql))
          }
        }
      }
      return damaged
    }

    /// Writes the definitions of the tables that every store has, where they differ.
    private func repairSchema() throws(SyncError) {
      let connection = try connection(scratch, flags: SQLITE_OPEN_READWRITE, options: "")
      let damaged = try damagedDefinitions(on: connection)
      guard !damaged.isEmpty else { return }
      try connection.transaction(.write) { () throws(SyncError) in
        let statement = try connection.statement(
          "UPDATE sqlite_schema SET type = 'table', name = ?2, tbl_name = ?2, sql = ?3 WHERE rowid = ?1")
        for (row, name, sql) in damaged {
          try statement.bind(row, at: 1)
          try statement.bind(name, at: 2)
          try statement.bind(sql, at: 3)
          try statement.run()
        }
      }
    }
  }
#endif
