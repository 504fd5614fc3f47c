#if SQLite
  extension Migration {
    /// Moves checkpoints to the other values that are kept by name.
    static let checkpointValues = [
      "INSERT OR REPLACE INTO state (key, value) SELECT 'checkpoint/' || type, CAST(checkpoint AS BLOB) FROM checkpoints",
      "DROP TABLE checkpoints",
    ]

    /// The newest writes that changed visible records, with the records if they are few.
    static let observedChanges = [
      "CREATE TABLE changes (position INTEGER PRIMARY KEY, records TEXT)"
    ]

    /// The sums of the rows' digests. The completion of the step adds existing rows.
    static let sums = [
      "INSERT INTO meta VALUES ('\(TableSums.key)', zeroblob(\(TableSums.size)))"
    ]

    /// The checksum of each edit. The completion of the step adds the column of records.
    ///
    /// Existing rows have none before they are written again.
    static let checksums = ["ALTER TABLE outbox ADD COLUMN checksum"]
  }
#endif
