#if SQLite
  import SyncModels

  /// The definitions of a file's tables, read past damaged places.
  struct StoredSchema {
    /// A row of SQLite's list. Only a table that every store has is known without it.
    struct Definition {
      var type: String?
      var name: String?
      var table: String?
      var root: Int64
      var sql: String?
    }

    /// The definitions for a new list; `nil` if the file's own list is whole.
    private(set) var repaired: [Definition]?
    /// Whether a part of the list cannot be read.
    private(set) var isCutShort = false

    /// Reads the definitions.
    ///
    /// - Parameter kind: The first byte of a page, to find the tables of a lost part of the list.
    init(
      _ connection: Connection, kind: (_ page: Int64) -> UInt8? = { _ in nil }
    ) throws(SyncError) {
      let intended = try SchemaReference().objects().filter { $0.value.hasPrefix("CREATE TABLE ") }
      let scan = RowScan(
        connection, table: "sqlite_schema", number: "rowid",
        columns: "type, name, tbl_name, rootpage, CAST(sql AS BLOB)")
      var definitions: [Definition] = []
      var isDamaged = false
      var place: Int64?
      repeat {
        let found = try scan.rows(after: place, limit: 1000) { row throws(SyncError) in
          var own = Definition(row)
          if own.repair(intended) { isDamaged = true }
          return own
        }
        definitions += found.rows
        isCutShort = isCutShort || !found.gaps.isEmpty || !found.unreadable.isEmpty
        place = found.reached
      } while place != nil
      let names = Set(definitions.compactMap(\.name))
      let lacksTables = !names.isSuperset(of: intended.keys)
      guard isDamaged || isCutShort || lacksTables else { return }
      if lacksTables { definitions += try Self.lost(intended, without: definitions, kind: kind) }
      repaired = definitions
    }

    /// Finds the tables that a list lacks on the pages of a new store's.
    ///
    /// A store that has grown through earlier layouts may have some of them elsewhere.
    private static func lost(
      _ intended: [String: String], without known: [Definition], kind: (Int64) -> UInt8?
    ) throws(SyncError) -> [Definition] {
      let roots = try SchemaReference().roots()
      let (names, used) = (Set(known.compactMap(\.name)), Set(known.map(\.root)))
      var found: [Definition] = []
      for (name, sql) in intended.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
        // The kinds of a tree's first page, of rows by number or by key.
        let kinds: [UInt8] = sql.hasSuffix("WITHOUT ROWID") ? [2, 10] : [5, 13]
        guard let root = roots[name], !used.contains(root), let kind = kind(root), kinds.contains(kind)
        else { continue }
        found.append(Definition(type: "table", name: name, table: name, root: root, sql: sql))
      }
      // Any other file may have a tree on one of those pages.
      let all = names.union(found.compactMap(\.name))
      return all.isSuperset(of: ["outbox", "state", "entities"]) ? found : []
    }
  }

  extension StoredSchema.Definition {
    fileprivate init(_ row: Statement) {
      type = row.value(0).text
      name = row.value(1).text
      table = row.value(2).text
      root = row.integer(3)
      sql = row.isNull(4) ? nil : String(decoding: row.bytes(4), as: UTF8.self)
    }

    /// Restores the definition of a table that every store has, and returns whether it differed.
    ///
    /// It is found by its name or by its text.
    fileprivate mutating func repair(_ intended: [String: String]) -> Bool {
      // An index has its table's name, and a name of its own.
      let known = name.flatMap { intended[$0] == nil ? nil : $0 } ?? intended.first { $0.value == sql }?.key
      guard let known, let text = intended[known],
        type != "table" || name != known || table != known || sql != text
      else { return false }
      (type, name, table, sql) = ("table", known, known, text)
      return true
    }
  }
#endif
