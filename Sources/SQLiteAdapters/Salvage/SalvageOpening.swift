#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Opens a damaged file, or a repaired copy of it.
  final class SalvageOpening: Sendable {
    let path: String
    let scratch: String
    private let found = Mutex<[SalvageLoss]>([])

    init(path: String, scratch: String) {
      self.path = path
      self.scratch = scratch
    }

    /// What the repair of the copy has left out.
    var losses: [SalvageLoss] { found.withLock(\.self) }

    /// Opens the file for reading.
    ///
    /// A file that SQLite can open is read in place, so that a store in use is read as of one
    /// instant. Otherwise a copy is repaired: the log, the header, whose values are known for every
    /// store, and the definitions of the tables that every store has.
    func open() throws(SyncError) -> Connection {
      guard csqlite_kind_of_path(path) == 1, csqlite_is_readable(path) != 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the damaged store", "\(path) is missing, or cannot be read.")
      }
      // SQLite keeps the log beside the file, not beside a link to it.
      let source = try StoreOpening.resolved(path)
      if let connection = try openInPlace(source) { return connection }
      // First with the log, which may be damaged as well.
      var refusal: SyncError?
      for hasLog in [true, false] {
        found.withLock { $0 = [] }
        do throws(SyncError) {
          try makeCopy(of: source, hasLog: hasLog)
          return try usable(scratch, options: "?immutable=1")
        } catch {
          removeCopy()
          guard error.isOfDamagedFile else { throw error }
          refusal = refusal ?? error
        }
      }
      throw SyncError(
        .storeUnreadable, during: "opening the damaged store",
        "Nothing of \(path) can be read: it is no store, or the list of its tables is lost.",
        underlying: refusal)
    }

    /// Removes the copy.
    func removeCopy() {
      for suffix in Self.suffixes { _ = csqlite_remove(scratch + suffix) }
    }

    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    // MARK: Connections

    /// Opens the file itself; `nil` if only a repaired copy can be read whole.
    private func openInPlace(_ source: String) throws(SyncError) -> Connection? {
      do throws(SyncError) {
        if try LogDamage.find(inLog: source + "-wal") != nil { return nil }
        let connection = try usable(source, options: "")
        return try StoredSchema(connection).repaired == nil ? connection : nil
      } catch {
        // A reader of a log needs a file beside it, so the directory must not be read-only.
        guard error.isOfDamagedFile || error.code == .storeReadOnly else { throw error }
        return nil
      }
    }

    /// Opens a file for reading, if it has a store's tables.
    private func usable(_ path: String, options: String) throws(SyncError) -> Connection {
      let connection = try connection(path, flags: SQLITE_OPEN_READONLY, options: options)
      try connection.execute("PRAGMA query_only = 1")
      let tables = try connection.transaction(.read) { () throws(SyncError) -> Int64? in
        try connection.value(
          "SELECT count(*) FROM sqlite_schema WHERE name IN ('outbox', 'state', 'entities')")
      }
      guard let tables, tables > 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the damaged store", "The file has no table of a store.")
      }
      return connection
    }

    private func connection(_ path: String, flags: Int32, options: String) throws(SyncError) -> Connection {
      let connection = try Connection(
        uri: StoreOpening.uri(path) + options, flags: flags, busyTimeout: .seconds(5))
      connection.setCheckpointsOnClose(false)
      // A table whose definition cannot be parsed is then missing, instead of the whole file.
      connection.allowDamagedSchema()
      try connection.execute("PRAGMA writable_schema = 1")
      return connection
    }

    // MARK: The copy

    /// Makes a copy that is one file, with a whole header and list of tables.
    private func makeCopy(of source: String, hasLog: Bool) throws(SyncError) {
      removeCopy()
      try check(csqlite_copy_file(source, scratch), source)
      if hasLog {
        let damaged = try LogRepair.write(source + "-wal", to: scratch + "-wal")
        if damaged > 0 {
          note(.outbox, "pages of the log are damaged (\(damaged)); edits in them may be lost")
        }
      } else if csqlite_is_empty(source + "-wal") == 0 {
        note(.outbox, "the log cannot be read; edits in it are lost")
      }
      try repairHeader()
      try mergeLog()
      // A damaged page of the log may have brought a damaged header.
      try repairHeader()
      try repairSchema()
    }

    private func note(_ part: SalvageLoss.Part, _ detail: String) {
      found.withLock { $0.append(SalvageLoss(part, detail)) }
    }

    private func repairHeader() throws(SyncError) {
      try check(csqlite_repair_header(scratch, UInt32(clamping: Migration.all.count)), scratch)
    }

    private func mergeLog() throws(SyncError) {
      guard csqlite_is_empty(scratch + "-wal") == 0 else { return }
      let copy = try connection(scratch, flags: SQLITE_OPEN_READWRITE, options: "")
      // SQLite finds the log with the first read.
      _ = try copy.value("PRAGMA user_version")
      let code = sqlite3_wal_checkpoint_v2(copy.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      guard code == SQLITE_OK else { throw copy.failed() }
    }

    /// Lists the tables of the copy anew, if the list is damaged.
    private func repairSchema() throws(SyncError) {
      let schema = try StoredSchema(
        connection(scratch, flags: SQLITE_OPEN_READONLY, options: "?immutable=1"), kind: kind)
      if schema.isCutShort {
        note(.declarations, "the list of the tables cannot be read in places")
      }
      guard let definitions = schema.repaired else { return }
      try check(csqlite_empty_schema(scratch), scratch)
      let connection = try connection(scratch, flags: SQLITE_OPEN_READWRITE, options: "")
      connection.setCheckpointsOnClose(true)
      try connection.transaction(.write) { () throws(SyncError) in
        let statement = try connection.statement(
          "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)")
        for definition in definitions {
          for (place, text) in [(1, definition.type), (2, definition.name), (3, definition.table)] {
            try statement.bind(text, at: Int32(place))
          }
          try statement.bind(definition.root, at: 4)
          try statement.bind(definition.sql, at: 5)
          try statement.run()
        }
      }
    }

    /// Returns the first byte of one of the copy's pages; `nil` beyond its end.
    private func kind(ofPage number: Int64) -> UInt8? {
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(scratch) } ?? -EMFILE
      guard file >= 0 else { return nil }
      defer { csqlite_close(file) }
      var kind: UInt8 = 0
      return csqlite_read(file, &kind, 1, (number - 1) * 4096) == 1 ? kind : nil
    }

    private func check(_ code: Int32, _ place: String) throws(SyncError) {
      if code == 0 { return }
      throw code > 0
        ? SQLiteFailure.ofCopy(code)
        : SyncError(
          .storeUnreadable, during: "copying the damaged store", "\(place) cannot be read.",
          underlying: SQLiteFailure(code: SQLITE_IOERR, systemError: -code))
    }
  }

  extension SQLiteFailure {
    /// The error of a copy that cannot be written, for a number of the system.
    static func ofCopy(_ code: Int32) -> SyncError {
      let failure = SQLiteFailure(code: SQLITE_IOERR, systemError: code)
      let isFull = [ENOSPC, EDQUOT, EFBIG].contains(code)
      return SyncError(
        isFull ? .storeFull : .storeReadOnly, during: "copying the damaged store",
        (failure.systemAdvice ?? "The copy cannot be written.")
          + " A copy needs as much room as the store, beside the new one.", underlying: failure)
    }
  }
#endif
