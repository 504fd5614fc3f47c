#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// A failure of SQLite: its result code, without SQL or contents.
  struct SQLiteFailure: Error, CustomStringConvertible {
    /// The extended result code.
    var code: Int32
    /// The operating system's error number at that time; 0 for none.
    var systemError: Int32 = 0

    var description: String {
      // The connection's own message may quote names and SQL. This message is fixed for each code.
      let text = sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown"
      return "SQLite \(code): \(text)" + (systemError == 0 ? "" : " (errno \(systemError))")
    }
  }

  extension SQLiteFailure: StoreCause {
    var isOutsideStore: Bool { systemAdvice != nil || code & 0xFF == SQLITE_NOMEM }

    /// The library's error code for a result code. No other code translates result codes.
    var meaning: SyncError.Code {
      if isForWantOfSpace { return .storeFull }
      return switch code & 0xFF {
      // `SQLITE_PROTOCOL` means that other connections kept a reader from beginning for about ten
      // seconds.
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .storeBusy
      case SQLITE_FULL: .storeFull
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .storeReadOnly
      case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_FORMAT: .storeUnreadable
      default: .storeFailure
      }
    }

    private var isForWantOfSpace: Bool {
      let primary = code & 0xFF
      guard primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN else { return false }
      return systemError == ENOSPC || systemError == EDQUOT
    }

    private var advice: String {
      switch meaning {
      case .storeBusy: "Another writer kept the store locked for longer than the busy timeout."
      case .storeFull: "There is no room for the store to grow."
      case .storeReadOnly:
        "The store cannot be written: its file, the files beside it (-wal, -shm, .lease), its directory or this connection is read-only."
      case .storeUnreadable: "The file is not a store, or is damaged."
      default: systemAdvice ?? "SQLite failed with result code \(code)."
      }
    }

    /// Advice about a limit of the system; `nil` for other failures.
    var systemAdvice: String? {
      switch systemError {
      case EMFILE:
        """
        This process has too many open files, of \(csqlite_descriptor_limit()) that it may have: raise its limit \
        (ulimit -n), close stores, or lend them from a StorePool.
        """
      case ENFILE:
        "The system has too many open files: close stores of any process, or raise the system's limit (fs.file-max)."
      case EFBIG: "A file would be larger than the process or its file system allows (ulimit -f)."
      case ENOSPC, EDQUOT: "There is no room for the store to grow."
      default: nil
      }
    }

    /// The failure, with the system's error number if there are too many open files.
    ///
    /// SQLite does not always pass it on.
    var withShortage: SQLiteFailure {
      guard code & 0xFF == SQLITE_CANTOPEN, systemAdvice == nil else { return self }
      let shortage = csqlite_shortage()
      return shortage == 0 ? self : SQLiteFailure(code: code, systemError: shortage)
    }

    /// Returns the failure as an error of the library.
    func error(during operation: String) -> SyncError {
      SyncError(meaning, during: operation, advice, underlying: self)
    }
  }
#endif
