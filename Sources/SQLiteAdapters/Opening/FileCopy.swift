#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Copies files of a damaged store.
  enum FileCopy {
    private static let portion = 1 << 20

    /// Copies a file to one that its owner alone may read, and writes it through to the disk.
    ///
    /// - Throws: `cancelled`; `storeUnreadable` if the source cannot be read; `storeFull` or
    ///   `storeReadOnly` if the copy cannot be written. A part of it may be there.
    static func make(of source: String, at target: String, during operation: String) throws(SyncError) {
      let input = DescriptorMargin.hold(1) { csqlite_open_to_read(source) } ?? -EMFILE
      if input < 0 { throw unreadable(source, -input, operation) }
      defer { csqlite_close(input) }
      let output = DescriptorMargin.hold(1) { csqlite_open_private(target) } ?? -EMFILE
      if output < 0 { throw SQLiteFailure.ofCopy(-output, during: operation) }
      defer { csqlite_close(output) }
      var place: Int64 = 0
      while true {
        if Task.isCancelled { throw SyncError(.cancelled, during: operation, "The copy was not finished.") }
        var read = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: portion) { buffer, count in
          read = csqlite_read(input, buffer.baseAddress, buffer.count, place)
          count = max(0, read)
        }
        if read < 0 { throw unreadable(source, Int32(-read), operation) }
        if read == 0 { break }
        let failure = csqlite_write(output, bytes, bytes.count, place)
        if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: operation) }
        place += Int64(read)
      }
      let failure = csqlite_write_through(output)
      if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: operation) }
    }

    private static func unreadable(_ path: String, _ code: Int32, _ operation: String) -> SyncError {
      SyncError(
        .storeUnreadable, during: operation, "\(path) cannot be read.",
        underlying: SQLiteFailure(code: SQLITE_IOERR, systemError: code))
    }
  }

  extension SQLiteFailure {
    /// The error of a copy that cannot be written, for a number of the system.
    static func ofCopy(_ code: Int32, during operation: String) -> SyncError {
      let failure = SQLiteFailure(code: SQLITE_IOERR, systemError: code)
      let isFull = [ENOSPC, EDQUOT, EFBIG].contains(code)
      return SyncError(
        isFull ? .storeFull : .storeReadOnly, during: operation,
        (failure.systemAdvice ?? "The copy cannot be written.")
          + " The damaged store stays as it is; each copy needs as much room.", underlying: failure)
    }
  }
#endif
