#if SQLite
  import SyncModels

  // The values that the outbox and the conflict log store in the same form.
  extension Statement {
    /// Binds a record's type and key to two parameters.
    func bind(_ id: RecordID, at index: Int32) throws(SyncError) {
      try bind(id.type.rawValue, at: index)
      try bind(id.key, at: index + 1)
    }

    /// Binds a stamp to three parameters.
    func bind(_ stamp: EditStamp, at index: Int32) throws(SyncError) {
      try bind(stamp.physical.microseconds, at: index)
      try bind(Int64(stamp.counter), at: index + 1)
      try bind(stamp.replica, at: index + 2)
    }

    /// Binds the schema version of an edit's content; NULL for a deletion.
    func bind(schemaVersionOf content: Edit.Content, at index: Int32) throws(SyncError) {
      switch content {
      case .upsert(_, let schemaVersion): try bind(Int64(schemaVersion), at: index)
      case .deletion: try bindNull(at: index)
      }
    }

    /// Reads a stamp from three columns.
    func stamp(_ column: Int32) -> EditStamp {
      let counter = UInt32(exactly: integer(column + 1))
      if counter == nil { noteDamage("a stamp with an impossible counter") }
      return EditStamp(
        physical: Timestamp(microseconds: integer(column)), counter: counter ?? 0, replica: text(column + 2))
    }

    /// Reads an edit's content from two columns.
    func content(payload: Int32, schemaVersion: Int32) -> Edit.Content {
      if isNull(schemaVersion) != isNull(payload) {
        noteDamage("an edit's content without its schema version, or the reverse")
      }
      if isNull(schemaVersion) { return .deletion }
      return .upsert(Payload(bytes(payload)), schemaVersion: Int(integer(schemaVersion)))
    }
  }
#endif
