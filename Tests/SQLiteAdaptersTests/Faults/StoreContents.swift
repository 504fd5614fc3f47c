#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncCSQLite
  import InMemoryAdapters

  @testable import SQLiteAdapters

  /// All data of syncs and edits in a store, as text.
  ///
  /// The lease and the status of syncs are not included.
  enum StoreContents {
    private static let tables = ["outbox", "state", "set_aside", "conflicts", "marks"]

    /// Reads a file with its own connection; empty for a missing file.
    static func read(_ path: String) throws(SyncError) -> String {
      // A writing connection recovers the state after a crash. A read-only connection cannot.
      guard
        let connection = try? Connection(
          uri: "file:" + path, flags: SQLITE_OPEN_READWRITE, busyTimeout: .seconds(1))
      else { return "" }
      return try connection.transaction(.read) { () throws(SyncError) in
        var names: [String] = []
        let schema = try connection.statement(
          "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        while try schema.step() { names.append(schema.text(0)) }
        var text = ""
        for name in names where tables.contains(name) || name.hasPrefix("rows_") {
          text += try rows(of: name, on: connection)
        }
        guard let identity = try identity(names, on: connection) else { return text }
        return text.split(separator: identity, omittingEmptySubsequences: false).joined(
          separator: "THIS STORE")
      }
    }

    private static func identity(_ names: [String], on connection: Connection) throws(SyncError) -> String? {
      guard names.contains("meta") else { return nil }
      return try connection.text("SELECT value FROM meta WHERE key = 'identity'")
    }

    private static func rows(of table: String, on connection: Connection) throws(SyncError) -> String {
      let columns = try connection.statement("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
      var names: [String] = []
      // Kept values are JSON that contains the store's identity.
      let value = table == "state" ? { "CAST(\($0) AS TEXT)" } : { $0 }
      while try columns.step() {
        // The replica in the checksum of an edit is the store's identity.
        let isOfEdit = table == "outbox" && columns.text(0) == EditChecksum.column
        let column = isOfEdit ? EditChecksum.differs : value(quoted(columns.text(0)))
        names.append("quote(\(column))")
      }
      let rows = try connection.statement(
        """
        SELECT \(names.joined(separator: " || ',' || ")) AS line FROM \(quoted(table)) \
        \(table == "state" ? "WHERE key GLOB 'checkpoint/*'" : "") ORDER BY line
        """)
      var text = ""
      while try rows.step() { text += "\(table): \(rows.text(0))\n" }
      return text
    }
  }

  /// A store that reports each commit.
  struct ToldStore: ForwardingStore {
    let base: SQLiteStore
    let onCommit: @Sendable () throws(SyncError) -> Void

    func write<R: Sendable>(
      _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let result = try await base.write(authority, body)
      try onCommit()
      return result
    }
  }
#endif
