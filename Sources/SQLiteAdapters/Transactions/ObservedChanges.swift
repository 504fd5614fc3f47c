#if SQLite
  import SyncJSON
  import SyncModels
  import SyncPorts

  // Encoded by hand: an encoder takes longer than writing the records.
  extension ChangedRecords {
    /// Encodes records as JSON: an array of types, each followed by the key.
    static func encoded(_ ids: [RecordID]) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(32 * ids.count)
      for id in ids {
        for text in [id.type.rawValue, id.key] {
          bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
          JSONString.append(text, to: &bytes)
        }
      }
      bytes.append(UInt8(ascii: "]"))
      return bytes
    }

    /// Decodes records from the text of ``encoded(_:)``.
    static func records(in text: String) throws(SyncError) -> [RecordID] {
      var ids: [RecordID] = []
      var type: String?
      let bytes = Array(text.utf8)
      do throws(JSONError) {
        try JSONScanner.elements(of: bytes[...]) { (element) throws(JSONError) in
          guard let string = element.string() else { throw JSONError(.unexpectedByte, at: 0) }
          if let known = type {
            ids.append(RecordID(type: RecordType(known), key: string))
            type = nil
          } else {
            type = string
          }
        }
      } catch {
        throw SyncError(
          .storeUnreadable, during: "reading the records that changed",
          "The store's value has another form.", underlying: error)
      }
      return ids
    }
  }

  extension SQLiteTransaction {
    /// Assigns a position to the changes of the transaction. Call it at the end.
    func noteObservedChanges() throws(SyncError) {
      if observed.isEmpty { return }
      var records: String?
      if case .records(let ids) = observed {
        records = String(decoding: ChangedRecords.encoded(ids), as: UTF8.self)
      }
      try connection.run("INSERT INTO changes (records) VALUES (?)", .text(records))
      let position = connection.lastRow
      // Every 100 positions, because trimming takes two statements.
      guard position % 100 == 0 else { return }
      try connection.run(
        "DELETE FROM changes WHERE position <= ?", .number(position - CommittedChanges.maximumWrites))
    }
  }

  extension SQLiteSnapshot {
    func changes(after position: StorePosition?) throws(SyncError) -> CommittedChanges {
      let last = StorePosition(try connection.value("SELECT max(position) FROM changes") ?? 0)
      guard let position, position != last else { return CommittedChanges(.records([]), through: last) }
      let statement = try connection.statement(
        "SELECT position, records FROM changes WHERE position > ? ORDER BY position")
      defer { statement.reset() }
      try statement.bind(position.number, at: 1)
      var next = position.number + 1
      var ids: Set<RecordID> = []
      while try statement.step() {
        // A missing position was trimmed. A position without records stands for many.
        guard statement.integer(0) == next, !statement.isNull(1) else {
          return CommittedChanges(.everything, through: last)
        }
        next += 1
        ids.formUnion(try ChangedRecords.records(in: statement.text(1)))
      }
      // A future position belongs to another store.
      guard next > position.number + 1 else { return CommittedChanges(.everything, through: last) }
      return CommittedChanges(.records(ids.sorted()), through: last)
    }
  }
#endif
