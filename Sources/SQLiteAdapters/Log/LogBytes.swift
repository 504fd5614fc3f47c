#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The bytes of a log's file, read beside SQLite, which has no locks of it.
  struct LogBytes: ~Copyable {
    private let file: Int32
    /// The bytes of the file when it was opened.
    private let size: Int64

    /// Opens a log's file; `nil` if there is none, or an empty one.
    ///
    /// - Throws: `storeUnreadable` if the file cannot be read.
    init?(_ path: String) throws(SyncError) {
      guard csqlite_kind_of_path(path) == 1, csqlite_is_empty(path) == 0 else { return nil }
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(path) } ?? -EMFILE
      // Another process may close the store meanwhile, and with it the log goes.
      if file == -ENOENT { return nil }
      guard file >= 0 else { throw Self.failure(SQLITE_CANTOPEN, -file) }
      self.file = file
      size = csqlite_size(path)
    }

    deinit { csqlite_close(file) }

    /// Reads so many bytes, or fewer at the end of the file.
    ///
    /// What the disk cannot read comes as zeros, and no frame of zeros has a right checksum.
    func read(_ length: Int, at place: Int64) throws(SyncError) -> [UInt8] {
      var failure = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        let read = csqlite_read(file, buffer.baseAddress, length, place)
        if read < 0 { failure = -read }
        count = max(0, read)
      }
      if failure == EIO, place < size {
        return [UInt8](repeating: 0, count: Int(min(Int64(length), size - place)))
      }
      guard failure == 0 else { throw Self.failure(SQLITE_IOERR, Int32(failure)) }
      return bytes
    }

    private static func failure(_ code: Int32, _ systemError: Int32) -> SyncError {
      let failure = SQLiteFailure(code: code, systemError: systemError)
      if failure.systemAdvice != nil { return failure.error(during: "reading the log") }
      return SyncError(
        .storeUnreadable, during: "reading the log", "The log cannot be read.", underlying: failure)
    }
  }
#endif
