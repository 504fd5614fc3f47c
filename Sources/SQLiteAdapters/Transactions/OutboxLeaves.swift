#if SQLite
  import SyncModels
  import SyncPorts

  // The records that pending edits leave, in a separate table that finds the edits by them.
  extension SQLiteSnapshot {
    func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]] {
      let statement = try connection.statement(
        "SELECT type, id FROM outbox_leaves WHERE target_type = ? AND target_key = ? ORDER BY type, id LIMIT ?"
      )
      var entries: [[OutboxEntry]] = []
      for id in ids {
        var found: [RecordID] = []
        do {
          defer { statement.reset() }
          try statement.bind(id, at: 1)
          try statement.bind(Int64(max(0, limit)), at: 3)
          while try statement.step() {
            found.append(RecordID(type: RecordType(statement.text(0)), key: statement.text(1)))
          }
        }
        entries.append(found.isEmpty ? [] : try outbox(for: found))
      }
      return entries
    }
  }

  extension Connection {
    func noteLeaves(of entry: OutboxEntry) throws(SyncError) {
      if entry.leaves.isEmpty { return }
      let statement = try statement("INSERT OR IGNORE INTO outbox_leaves VALUES (?, ?, ?, ?)")
      for target in entry.leaves {
        try statement.bind(target, at: 1)
        try statement.bind(entry.id, at: 3)
        try statement.run()
      }
    }

    private func hasLeaves() throws(SyncError) -> Bool {
      try first("SELECT 1 FROM outbox_leaves LIMIT 1") { _ in true } ?? false
    }

    /// Usually no edit leaves a record, which one query shows.
    func forgetLeaves(of ids: some Sequence<RecordID>) throws(SyncError) {
      guard try hasLeaves() else { return }
      let statement = try statement("DELETE FROM outbox_leaves WHERE type = ? AND id = ?")
      for id in ids {
        try statement.bind(id, at: 1)
        try statement.run()
      }
    }
  }
#endif
