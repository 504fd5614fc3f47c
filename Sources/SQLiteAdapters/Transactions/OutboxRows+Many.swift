#if SQLite
  import SyncModels

  // Cursors are opened once for all rows of a statement, which costs a third of what it takes to add one.
  extension OutboxRows {
    /// How many entries one statement adds.
    static let rowsAtOnce = 16
    /// How far the parameters of an entry lie behind those of the one before.
    static let parametersPerRow = Int32(names.count)

    /// Adds as many entries as ``rowsAtOnce``, all of one type and one replica and none of them sent yet. An entry whose record has one already is passed
    /// over, so the number of rows that are added tells whether there is any.
    static let addMany: String = {
      let shared = ["type": "?1", "replica": "?5"]
      let unsent = ["sent": "'nothing'", "state": "'waiting'", "attempts": "0"]
      let missing = [
        "sent_physical", "sent_counter", "sent_replica", "sent_schema_version", "sent_payload", "state_at",
        "refusal", "leaves",
      ]
      let rows = (0..<rowsAtOnce).map { row in
        let values = names.enumerated().map { place, name in
          if missing.contains(name) { return "NULL" }
          return shared[name] ?? unsent[name] ?? "?\(row * names.count + place + 1)"
        }
        return "(\(values.joined(separator: ", ")))"
      }
      // Whatever fails takes the whole transaction back, so SQLite need not keep the pages of each statement for itself.
      return """
        INSERT OR FAIL INTO outbox (\(columns)) VALUES \(rows.joined(separator: ", ")) \
        ON CONFLICT (type, id) DO NOTHING
        """
    }()
  }

  extension ArraySlice<OutboxEntry> {
    /// As many entries as ``OutboxRows/addMany`` adds, if the first ones are such.
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
