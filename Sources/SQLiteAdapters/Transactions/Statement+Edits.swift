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
  }
#endif
