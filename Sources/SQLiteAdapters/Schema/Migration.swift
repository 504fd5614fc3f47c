#if SQLite
  import SyncModels

  /// One step of the file's layout.
  ///
  /// The list grows only at its end, and a released step never changes.
  package struct Migration: Sendable {
    /// The permanent name of the step.
    package let name: String
    let statements: [String]
    /// What follows the statements, in the same transaction.
    let completion: @Sendable (Connection) throws(SyncError) -> Void

    package init(_ name: String, _ statements: [String]) {
      self.init(name, statements) { _ in }
    }

    init(
      _ name: String, _ statements: [String],
      completion: @escaping @Sendable (Connection) throws(SyncError) -> Void
    ) {
      self.name = name
      self.statements = statements
      self.completion = completion
    }

    /// Every step, the oldest first. A file's `user_version` is the number of applied steps.
    package static let all: [Migration] = [
      Migration("initial", initial), Migration("local edits", localEdits),
      Migration("outbox counts", outboxCounts),
      // No statement. It prevents access by older versions, which would show records with pending
      // deletions as live.
      Migration("natural keys of pending deletions", []),
      Migration("references of what is set aside", withheldReferences),
      Migration("authors of edits", authors),
      Migration("checkpoints are kept values", checkpointValues),
      Migration("observed changes", observedChanges),
      Migration("sums of rows", sums) { connection throws(SyncError) in
        connection.sums = try connection.countedSums(of: SummedTable.first)
      },
      Migration("checksums of rows", checksums) { connection throws(SyncError) in
        for type in try connection.typesWithTables() {
          try connection.execute(TypeObjects(Entity(type)).addition(of: RowChecksum.column))
        }
      },
      Migration("sums of changes and declarations", []) { connection throws(SyncError) in
        // They are set, because a file with a damaged number of its layout may have them already.
        let stored = try connection.storedSums()
        for table in [SummedTable.changes, .declarations] {
          connection.sums.add(try connection.countedSum(of: table) &- (stored?[table] ?? 0), to: table)
        }
      },
    ]

    private static let initial = [
      "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value) WITHOUT ROWID",
      "INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16)))), ('catalog', 0)",
      "CREATE TABLE entities (type TEXT NOT NULL PRIMARY KEY, declaration TEXT NOT NULL) WITHOUT ROWID",
      """
      CREATE TABLE fields (
        type TEXT NOT NULL, name TEXT NOT NULL, is_key INTEGER NOT NULL, column_name TEXT NOT NULL,
        is_declared INTEGER NOT NULL, filled_through INTEGER, PRIMARY KEY (type, name, is_key)) WITHOUT ROWID
      """,
      "CREATE TABLE checkpoints (type TEXT NOT NULL PRIMARY KEY, checkpoint TEXT NOT NULL) WITHOUT ROWID",
      "CREATE TABLE state (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL)",
      """
      CREATE TABLE marks (
        type TEXT NOT NULL, chunk INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY (type, chunk)) WITHOUT ROWID
      """,
      """
      CREATE TABLE lease (
        id INTEGER PRIMARY KEY CHECK (id = 1), fence INTEGER NOT NULL, holder TEXT, has_file_lock INTEGER NOT NULL,
        expires_at INTEGER)
      """,
      "INSERT INTO lease VALUES (1, 0, NULL, 0, NULL)",
      """
      CREATE TABLE set_aside (
        entry INTEGER PRIMARY KEY, type TEXT NOT NULL, slot NOT NULL, kind TEXT NOT NULL, change TEXT NOT NULL,
        record_type TEXT NOT NULL, record_key TEXT, version_epoch INTEGER, version_sequence INTEGER,
        version_modified_at INTEGER, entity_tag TEXT, schema_version INTEGER, flaw TEXT, location TEXT, reason TEXT NOT NULL,
        waits_for TEXT NOT NULL, pass INTEGER NOT NULL, fence INTEGER NOT NULL, since INTEGER NOT NULL, payload BLOB)
      """,
      "CREATE UNIQUE INDEX \"set_aside.slot\" ON set_aside (type, slot)",
      """
      CREATE TABLE waiting (
        target_type TEXT NOT NULL, target_key TEXT NOT NULL, is_bytes INTEGER NOT NULL, type TEXT NOT NULL,
        slot NOT NULL, entry INTEGER NOT NULL,
        PRIMARY KEY (target_type, target_key, is_bytes, type, slot)) WITHOUT ROWID
      """,
      "CREATE INDEX \"waiting.entry\" ON waiting (entry)",
      """
      CREATE TABLE set_aside_counts (
        type TEXT NOT NULL, kind TEXT NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY (type, kind)) WITHOUT ROWID
      """,
      """
      CREATE TRIGGER set_aside_added AFTER INSERT ON set_aside BEGIN
        INSERT INTO set_aside_counts VALUES (new.type, new.kind, 1)
          ON CONFLICT (type, kind) DO UPDATE SET entries = entries + 1;
      END
      """,
      """
      CREATE TRIGGER set_aside_removed AFTER DELETE ON set_aside BEGIN
        UPDATE set_aside_counts SET entries = entries - 1 WHERE type = old.type AND kind = old.kind;
        DELETE FROM waiting WHERE entry = old.entry;
      END
      """,
    ]
  }

  extension Connection {
    /// The application and the layout version that a file declares.
    struct Label: Equatable {
      var applicationID: Int64
      var version: Int64
      var isEmpty: Bool
    }

    /// The application id of the library's files: `CSyn`, in ASCII.
    static let applicationID: Int64 = 0x4353_796E

    func label() throws(SyncError) -> Label {
      Label(
        applicationID: try value("PRAGMA application_id") ?? 0,
        version: try value("PRAGMA user_version") ?? 0,
        isEmpty: try value("SELECT count(*) FROM sqlite_schema") == 0)
    }

    /// Applies every missing step, each in its own transaction.
    func migrate(by migrations: [Migration]) throws(SyncError) {
      while true {
        let done = try transaction(.write) { () throws(SyncError) -> Bool in
          // Another process may have migrated the file while this one waited.
          let version = Int(try label().version)
          guard version < migrations.count else { return true }
          let migration = migrations[version]
          do throws(SyncError) {
            for statement in migration.statements { try execute(statement) }
            try migration.completion(self)
          } catch {
            throw SyncError(
              error.code, during: "migrating the store's layout",
              "Step \(version + 1), \"\(migration.name)\", failed; the store is as it was before it. \(error.message)",
              underlying: error.underlying)
          }
          try execute("PRAGMA application_id = \(Self.applicationID)")
          try execute("PRAGMA user_version = \(version + 1)")
          // Open connections read the catalog again, and the version with it.
          try bumpCatalog()
          return version + 1 >= migrations.count
        }
        if done { return }
      }
    }

    /// Refuses a layout that a newer version of the library has made meanwhile.
    ///
    /// Transactions that do not refresh the catalog call it first. What is done alike in every
    /// layout goes on: copying the file or its log, and giving back a lease.
    func demandKnownLayout() throws(SyncError) {
      let statement = try statement("PRAGMA user_version")
      defer { statement.reset() }
      guard try statement.step(), statement.integer(0) > newestLayout else { return }
      throw SyncError(
        .storeNewer, during: "beginning a transaction",
        """
        Another process has brought the open store to layout \(statement.integer(0)), and this version of the \
        library knows \(newestLayout). Close the store, and open it with the newer version: update the app. \
        Nothing was written.
        """)
    }
  }
#endif
