#if SQLite
  import SyncModels

  // Cursors are opened once for all rows of a statement. Opening them costs a third of adding a
  // row.
  extension OutboxRows {
    /// The number of entries that one statement adds.
    static let rowsAtOnce = 16
    /// The number of parameters for one entry.
    static let parametersPerRow = Int32(written.count)

    /// Adds ``rowsAtOnce`` unsent entries of one type and one replica.
    ///
    /// An entry whose record already has one is skipped, so the number of added rows shows whether
    /// there is any.
    static let addMany: String = {
      let shared = ["type": "?1", "replica": "?5"]
      let unsent = ["sent": "'nothing'", "state": "'waiting'", "attempts": "0"]
      let missing = [
        "sent_physical", "sent_counter", "sent_replica", "sent_schema_version", "sent_payload", "state_at",
        "refusal", "leaves",
      ]
      let rows = (0..<rowsAtOnce).map { row in
        let values = written.enumerated().map { place, name in
          if missing.contains(name) { return "NULL" }
          return shared[name] ?? unsent[name] ?? "?\(row * written.count + place + 1)"
        }
        return "(\(values.joined(separator: ", ")))"
      }
      // A failure rolls back the whole transaction, so SQLite need not keep a statement journal.
      return """
        INSERT OR FAIL INTO outbox (\(columns), checksum) VALUES \(rows.joined(separator: ", ")) \
        ON CONFLICT (type, id) DO NOTHING
        """
    }()
  }

  extension ArraySlice<OutboxEntry> {
    /// The first entries, if ``OutboxRows/addMany`` can add them.
    var batchToAdd: ArraySlice? {
      let batch = prefix(OutboxRows.rowsAtOnce)
      guard batch.count == OutboxRows.rowsAtOnce, let first = batch.first else { return nil }
      let areAlike = batch.allSatisfy { entry in
        guard case .waiting = entry.state else { return false }
        return entry.sent == nil && entry.attempts == 0 && entry.leaves.isEmpty
          && entry.id.type == first.id.type
          && entry.edit.stamp.replica.isSameUTF8(as: first.edit.stamp.replica)
      }
      return areAlike ? batch : nil
    }
  }
#endif
