#if SQLite
  import SyncModels

  /// One step of the file's layout.
  ///
  /// The list grows only at its end, and a released step never changes.
  package struct Migration: Sendable {
    /// The permanent name of the step.
    package let name: String
    let statements: [String]

    package init(_ name: String, _ statements: [String]) {
      self.name = name
      self.statements = statements
    }

    /// Every step, the oldest first. A file's `user_version` is the number of applied steps.
    package static let all: [Migration] = [
      Migration("first layout", store + withheld + localEdits)
    ]

    /// The declarations, the values that are kept by name, the marks, the lease and the newest
    /// changes.
    private static let store = [
      "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value) WITHOUT ROWID",
      "INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16)))), ('catalog', 0)",
      "CREATE TABLE entities (type TEXT NOT NULL PRIMARY KEY, declaration TEXT NOT NULL) WITHOUT ROWID",
      """
      CREATE TABLE fields (
        type TEXT NOT NULL, name TEXT NOT NULL, is_key INTEGER NOT NULL, column_name TEXT NOT NULL,
        is_declared INTEGER NOT NULL, filled_through INTEGER, PRIMARY KEY (type, name, is_key)) WITHOUT ROWID
      """,
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
      // The newest writes that changed visible records, with the records if they are few.
      "CREATE TABLE changes (position INTEGER PRIMARY KEY, records TEXT)",
    ]

    /// What readers do not see yet, what it waits for, and the references of withheld copies.
    private static let withheld = [
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
      // Declarations define which fields are references.
      """
      CREATE TABLE set_aside_references (
        target_type TEXT NOT NULL, target_key TEXT NOT NULL, is_bytes INTEGER NOT NULL, type TEXT NOT NULL,
        slot NOT NULL, entry INTEGER NOT NULL,
        PRIMARY KEY (target_type, target_key, is_bytes, type, slot)) WITHOUT ROWID
      """,
      "CREATE INDEX \"set_aside_references.entry\" ON set_aside_references (entry)",
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
        DELETE FROM set_aside_references WHERE entry = old.entry;
      END
      """,
    ]

    /// The app's edits that the remote has not acknowledged, and their conflicts.
    private static let localEdits = [
      """
      CREATE TABLE outbox (
        entry INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL,
        physical INTEGER NOT NULL, counter INTEGER NOT NULL, replica TEXT NOT NULL, schema_version INTEGER,
        base TEXT NOT NULL, base_epoch INTEGER, base_sequence INTEGER, base_modified_at INTEGER, base_entity_tag TEXT,
        base_schema_version INTEGER,
        sent TEXT NOT NULL, sent_physical INTEGER, sent_counter INTEGER, sent_replica TEXT, sent_schema_version INTEGER,
        state TEXT NOT NULL, state_at INTEGER, refusal TEXT, attempts INTEGER NOT NULL,
        payload BLOB, base_payload BLOB, sent_payload BLOB, rebuilt_pass INTEGER, rebuilt_physical INTEGER,
        rebuilt_counter INTEGER, rebuilt_replica TEXT, rebuilt_winner TEXT, leaves TEXT, checksum INTEGER NOT NULL)
      """,
      "CREATE UNIQUE INDEX \"outbox.record\" ON outbox (type, id)",
      "CREATE INDEX \"outbox.stamp\" ON outbox (type, physical, counter, replica, id)",
      // The number of pending edits of each type, which every merged page reads.
      "CREATE TABLE outbox_counts (type TEXT NOT NULL PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID",
      """
      CREATE TABLE outbox_leaves (
        target_type TEXT NOT NULL, target_key TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL,
        PRIMARY KEY (target_type, target_key, type, id)) WITHOUT ROWID
      """,
      "CREATE INDEX \"outbox_leaves.record\" ON outbox_leaves (type, id)",
      // A conflict's number is never reused, even after conflicts are deleted.
      """
      CREATE TABLE conflicts (
        number INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, id TEXT NOT NULL, settled_at INTEGER NOT NULL,
        winner TEXT NOT NULL, reason TEXT NOT NULL,
        local_physical INTEGER NOT NULL, local_counter INTEGER NOT NULL, local_replica TEXT NOT NULL,
        local_schema_version INTEGER,
        remote TEXT NOT NULL, remote_epoch INTEGER NOT NULL, remote_sequence INTEGER NOT NULL,
        remote_modified_at INTEGER NOT NULL, remote_entity_tag TEXT, remote_schema_version INTEGER,
        remote_physical INTEGER NOT NULL, remote_counter INTEGER NOT NULL, remote_replica TEXT NOT NULL,
        local_payload BLOB, remote_payload BLOB, base_payload BLOB)
      """,
      "CREATE INDEX \"conflicts.type\" ON conflicts (type, number)",
      "CREATE INDEX \"conflicts.settled_at\" ON conflicts (settled_at)",
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
