#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Copies the files of a damaged store to such that their owner alone may read.
  ///
  /// A copy that throws may leave a part of the new file.
  enum FileCopy {
    private static let portion = 1 << 20
    private static let page = 4096

    /// Copies the file of a connection, through its own descriptor.
    ///
    /// A page that the disk cannot read becomes zeros.
    ///
    /// - Returns: How many such pages there are.
    /// - Throws: `cancelled`; `storeFull` or `storeReadOnly` if the copy cannot be written;
    ///   `storeFailure` for want of descriptors.
    @discardableResult
    static func make(
      ofFileOf connection: Connection, at target: String, during operation: String
    ) throws(SyncError) -> Int {
      var pages = 0
      let size = csqlite_file_size(connection.handle)
      if size < 0 { throw SQLiteFailure(code: Int32(clamping: -size)).error(during: operation) }
      try write(target, operation) { buffer, place throws(SyncError) in
        let count = Int32(clamping: min(Int64(buffer.count), size - place))
        if count <= 0 { return 0 }
        if read(connection, buffer.baseAddress, count, place) { return Int(count) }
        for start in stride(from: 0, to: Int(count), by: Self.page) {
          let length = min(Self.page, Int(count) - start)
          let target = buffer.baseAddress?.advanced(by: start)
          if read(connection, target, Int32(length), place + Int64(start)) { continue }
          target?.update(repeating: 0, count: length)
          pages += 1
        }
        return Int(count)
      }
      return pages
    }

    /// Reads a part of a connection's file, and returns whether the disk could.
    private static func read(
      _ connection: Connection, _ target: UnsafeMutablePointer<UInt8>?, _ count: Int32, _ place: Int64
    ) -> Bool {
      let code = csqlite_read_file(connection.handle, target, count, place)
      // SQLite fills what a file lacks that has become shorter with zeros.
      return code == SQLITE_OK || code == SQLITE_IOERR | 2 << 8
    }

    /// Copies a log, as ``make(ofFileOf:at:during:)`` does a file. No connection has locks of it.
    static func make(ofLog log: String, at target: String, during operation: String) throws(SyncError) {
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(log) } ?? -EMFILE
      if file < 0 { throw unreadable(-file, operation) }
      defer { csqlite_close(file) }
      try write(target, operation) { buffer, place throws(SyncError) in
        let count = csqlite_read(file, buffer.baseAddress, buffer.count, place)
        if count < 0 { throw unreadable(Int32(-count), operation) }
        return Int(count)
      }
    }

    private static func write(
      _ target: String, _ operation: String,
      _ read: (UnsafeMutableBufferPointer<UInt8>, Int64) throws(SyncError) -> Int
    ) throws(SyncError) {
      _ = csqlite_remove(target)
      let file = DescriptorMargin.hold(1) { csqlite_open_private(target) } ?? -EMFILE
      if file < 0 { throw SQLiteFailure.ofCopy(-file, during: operation) }
      defer { csqlite_close(file) }
      let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: portion)
      defer { buffer.deallocate() }
      var place: Int64 = 0
      while true {
        if Task.isCancelled { throw SyncError(.cancelled, during: operation, "The copy was not finished.") }
        let count = try read(buffer, place)
        if count == 0 { break }
        let failure = csqlite_write(file, buffer.baseAddress, count, place)
        if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: operation) }
        place += Int64(count)
      }
      let failure = csqlite_write_through(file)
      if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: operation) }
    }

    static func unreadable(_ code: Int32, _ operation: String) -> SyncError {
      let failure = SQLiteFailure(code: SQLITE_IOERR, systemError: code)
      if failure.systemAdvice != nil { return failure.error(during: operation) }
      return SyncError(.storeUnreadable, during: operation, "A file cannot be read.", underlying: failure)
    }
  }

  extension SQLiteFailure {
    /// The error of a copy that cannot be written, for a number of the system.
    static func ofCopy(_ code: Int32, during operation: String) -> SyncError {
      let failure = SQLiteFailure(code: SQLITE_IOERR, systemError: code)
      if code == EMFILE || code == ENFILE { return failure.error(during: operation) }
      let isFull = [ENOSPC, EDQUOT, EFBIG].contains(code)
      return SyncError(
        isFull ? .storeFull : .storeReadOnly, during: operation,
        (failure.systemAdvice ?? "The copy cannot be written.")
          + " The damaged store stays as it is; each copy needs as much room.", underlying: failure)
    }
  }
#endif
