#if SQLite
  extension Migration {
    /// The app's edits that the remote has not acknowledged, and their conflicts.
    static let localEdits = [
      """
      CREATE TABLE outbox (
        entry INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL,
        physical INTEGER NOT NULL, counter INTEGER NOT NULL, replica TEXT NOT NULL, schema_version INTEGER,
        base TEXT NOT NULL, base_epoch INTEGER, base_sequence INTEGER, base_modified_at INTEGER, base_entity_tag TEXT,
        base_schema_version INTEGER,
        sent TEXT NOT NULL, sent_physical INTEGER, sent_counter INTEGER, sent_replica TEXT, sent_schema_version INTEGER,
        state TEXT NOT NULL, state_at INTEGER, refusal TEXT, attempts INTEGER NOT NULL,
        payload BLOB, base_payload BLOB, sent_payload BLOB)
      """,
      "CREATE UNIQUE INDEX \"outbox.record\" ON outbox (type, id)",
      "CREATE INDEX \"outbox.stamp\" ON outbox (type, physical, counter, replica, id)",
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

    /// The author of each edit, and the records that it leaves.
    static let authors = [
      "ALTER TABLE outbox ADD COLUMN rebuilt_pass INTEGER",
      "ALTER TABLE outbox ADD COLUMN rebuilt_physical INTEGER",
      "ALTER TABLE outbox ADD COLUMN rebuilt_counter INTEGER",
      "ALTER TABLE outbox ADD COLUMN rebuilt_replica TEXT",
      "ALTER TABLE outbox ADD COLUMN leaves TEXT",
      """
      CREATE TABLE outbox_leaves (
        target_type TEXT NOT NULL, target_key TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL,
        PRIMARY KEY (target_type, target_key, type, id)) WITHOUT ROWID
      """,
      "CREATE INDEX \"outbox_leaves.record\" ON outbox_leaves (type, id)",
    ]

    /// The number of pending edits of each type, which every merged page reads.
    static let outboxCounts = [
      "CREATE TABLE outbox_counts (type TEXT NOT NULL PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID",
      "INSERT INTO outbox_counts SELECT type, count(*) FROM outbox GROUP BY type",
    ]
  }
#endif
