#if SQLite
  extension Migration {
    /// Checkpoints lie among the other values kept under names.
    static let checkpointValues = [
      "INSERT OR REPLACE INTO state (key, value) SELECT 'checkpoint/' || type, CAST(checkpoint AS BLOB) FROM checkpoints",
      "DROP TABLE checkpoints",
    ]

    /// The newest writes that changed what readers see, with the records where they are few.
    static let observedChanges = [
      "CREATE TABLE changes (position INTEGER PRIMARY KEY, records TEXT)"
    ]
  }
#endif
