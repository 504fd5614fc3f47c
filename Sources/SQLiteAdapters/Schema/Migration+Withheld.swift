#if SQLite
  extension Migration {
    /// The references of withheld copies.
    ///
    /// Declarations define which fields are references. Registration reads the references of
    /// existing copies.
    static let withheldReferences = [
      """
      CREATE TABLE set_aside_references (
        target_type TEXT NOT NULL, target_key TEXT NOT NULL, is_bytes INTEGER NOT NULL, type TEXT NOT NULL,
        slot NOT NULL, entry INTEGER NOT NULL,
        PRIMARY KEY (target_type, target_key, is_bytes, type, slot)) WITHOUT ROWID
      """,
      "CREATE INDEX \"set_aside_references.entry\" ON set_aside_references (entry)",
      "DROP TRIGGER set_aside_removed",
      """
      CREATE TRIGGER set_aside_removed AFTER DELETE ON set_aside BEGIN
        UPDATE set_aside_counts SET entries = entries - 1 WHERE type = old.type AND kind = old.kind;
        DELETE FROM waiting WHERE entry = old.entry;
        DELETE FROM set_aside_references WHERE entry = old.entry;
      END
      """,
      "INSERT INTO meta SELECT 'references/' || type, 0 FROM set_aside GROUP BY type",
    ]
  }
#endif
