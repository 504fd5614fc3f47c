#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Opens a damaged file, or a repaired copy of it.
  final class SalvageOpening: Sendable {
    let path: String
    let scratch: String
    private let found = Mutex(Found())

    private struct Found {
      var losses: [SalvageLoss] = []
      var other: LogUse?
    }

    /// What a copy has of the log.
    private enum LogUse {
      /// Every transaction, also behind damaged places.
      case repaired
      /// The transactions that SQLite reads.
      case asItIs
      case none
    }

    init(path: String, scratch: String) {
      self.path = path
      self.scratch = scratch
    }

    /// What the repair of the copy has left out.
    var losses: [SalvageLoss] { found.withLock(\.losses) }

    /// Whether a damaged log can be read in another way than ``open()`` does.
    ///
    /// SQLite ignores what is behind the damage, and a repaired log has it, with the damaged pages.
    var hasOther: Bool { found.withLock { $0.other != nil } }

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
      let damage = try? LogDamage.find(inLog: source + "-wal")
      let isHidden = damage?.mayHideOlder ?? false
      if damage == nil || isHidden, let connection = try openInPlace(source) {
        if isHidden { noteHidden() }
        return connection
      }
      // First with the log, which may be damaged as well.
      var refusal: SyncError?
      for use in isHidden ? [LogUse.asItIs, .none] : [.repaired, .asItIs, .none] {
        found.withLock { $0.losses = [] }
        do throws(SyncError) {
          let damaged = try makeCopy(of: source, at: scratch, use)
          if use == .asItIs, damage != nil, !isHidden {
            note(
              .outbox,
              "the transactions behind a damaged page of the log cannot be used; edits in them are lost")
          }
          let connection = try usable(scratch, options: "?immutable=1")
          if isHidden { noteHidden() }
          if damaged > 0 { found.withLock { $0.other = .asItIs } }
          return connection
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

    /// Notes that the log cannot be read in the other way.
    func leaveOther() -> SalvageLoss {
      found.withLock { $0.other = nil }
      return SalvageLoss(.outbox, "edits on one side of a damaged page of the log cannot be read")
    }

    /// Opens a copy with the other reading of the log.
    func openOther() throws(SyncError) -> Connection {
      let use = found.withLock(\.other) ?? .asItIs
      _ = try makeCopy(of: try StoreOpening.resolved(path), at: otherScratch, use)
      return try usable(otherScratch, options: "?immutable=1")
    }

    /// Removes the copies.
    func removeCopy() {
      for name in [scratch, otherScratch] { Self.remove(name) }
    }

    private var otherScratch: String { scratch + "-other" }

    private static func remove(_ path: String) {
      for suffix in ["", "-wal", "-shm", "-journal"] { _ = csqlite_remove(path + suffix) }
    }

    private func noteHidden() {
      found.withLock { $0.other = .repaired }
      note(
        .conflicts,
        "of the transactions behind a damaged page of the log only edits are taken over, also such that were settled since"
      )
    }

    // MARK: Connections

    /// Opens the file itself; `nil` if only a repaired copy can be read whole.
    private func openInPlace(_ source: String) throws(SyncError) -> Connection? {
      // SQLite would delete the log.
      if csqlite_is_new(source) != 0 { return nil }
      do throws(SyncError) {
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
    ///
    /// - Returns: How many pages of the log are in the copy, or left out of it, damaged.
    private func makeCopy(of source: String, at copy: String, _ use: LogUse) throws(SyncError) -> Int {
      var damaged = 0
      Self.remove(copy)
      try check(csqlite_copy_file(source, copy), source)
      let (log, hasLog) = (source + "-wal", csqlite_is_empty(source + "-wal") == 0)
      switch use {
      case .repaired:
        damaged = try LogRepair.write(log, to: copy + "-wal")
        if damaged > 0 {
          note(.outbox, "pages of the log are damaged (\(damaged)); edits in them may be lost")
        }
      case .asItIs where hasLog: try check(csqlite_copy_file(log, copy + "-wal"), log)
      case .none where hasLog: note(.outbox, "the log cannot be read; edits in it are lost")
      case .asItIs, .none: break
      }
      try repairHeader(of: copy)
      try mergeLog(of: copy)
      // A damaged page of the log may have brought a damaged header.
      try repairHeader(of: copy)
      try repairSchema(of: copy)
      return damaged
    }

    private func note(_ part: SalvageLoss.Part, _ detail: String) {
      found.withLock { $0.losses.append(SalvageLoss(part, detail)) }
    }

    private func repairHeader(of copy: String) throws(SyncError) {
      try check(csqlite_repair_header(copy, UInt32(clamping: Migration.all.count)), copy)
    }

    private func mergeLog(of copy: String) throws(SyncError) {
      guard csqlite_is_empty(copy + "-wal") == 0 else { return }
      let connection = try connection(copy, flags: SQLITE_OPEN_READWRITE, options: "")
      // SQLite finds the log with the first read.
      _ = try connection.value("PRAGMA user_version")
      let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      guard code == SQLITE_OK else { throw connection.failed() }
    }

    /// Lists the tables of a copy anew, if the list is damaged.
    private func repairSchema(of copy: String) throws(SyncError) {
      let schema = try StoredSchema(
        connection(copy, flags: SQLITE_OPEN_READONLY, options: "?immutable=1")
      ) { Self.kind(ofPage: $0, in: copy) }
      if schema.isCutShort {
        note(.declarations, "the list of the tables cannot be read in places")
      }
      guard let definitions = schema.repaired else { return }
      try check(csqlite_empty_schema(copy), copy)
      let connection = try connection(copy, flags: SQLITE_OPEN_READWRITE, options: "")
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

    /// Returns the first byte of one of a copy's pages; `nil` beyond its end.
    private static func kind(ofPage number: Int64, in copy: String) -> UInt8? {
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(copy) } ?? -EMFILE
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
