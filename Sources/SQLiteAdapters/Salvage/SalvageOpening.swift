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
      /// The other way to read the log, and what is lost in it.
      var other: LogUse?
      var otherLosses: [SalvageLoss] = []
      /// The copies that were made.
      var copies: Set<String> = []
    }

    /// What a copy has of the log.
    private enum LogUse {
      /// Every transaction, also behind damaged places.
      case repaired
      /// The transactions that SQLite reads.
      case asItIs
      case withoutLog
    }

    init(path: String, scratch: String) {
      self.path = path
      self.scratch = scratch
    }

    /// What the opening has left out.
    var losses: [SalvageLoss] { found.withLock(\.losses) }

    /// Whether a damaged log can be read in another way than ``open()`` does.
    ///
    /// SQLite ignores what is behind the damage, and a repaired log has it, with the damaged pages.
    var hasOther: Bool { found.withLock { $0.other != nil } }

    /// What the other reading has left out.
    var otherLosses: [SalvageLoss] { found.withLock(\.otherLosses) }

    /// Opens the file for reading.
    ///
    /// A file that SQLite can open is read in place, because a copy needs room and time. Otherwise
    /// a copy is repaired: the log, the header, whose values are known for every store, and the
    /// definitions of the tables that every store has.
    func open() throws(SyncError) -> Connection {
      found.withLock { ($0.losses, $0.other, $0.otherLosses) = ([], nil, []) }
      let source = try source()
      note(
        KeptFiles(of: source).existing.map { copy in
          SalvageLoss(.outbox, "\(copy) has transactions that the store lacks; salvage it too")
        })
      guard let damage = try damage(ofLog: source + "-wal") else {
        if let connection = try openInPlace(source) { return connection }
        return try openCopy(of: source, [.repaired, .asItIs, .withoutLog])
      }
      guard damage.mayHideOlder || damage.isUnreadable else {
        return try openCopy(of: source, [.repaired, .asItIs, .withoutLog])
      }
      // First what SQLite reads, which is newer.
      noteHidden(damage)
      if let connection = try openInPlace(source) { return connection }
      return try openCopy(of: source, [.asItIs, .withoutLog])
    }

    /// Notes what a log hides from SQLite.
    private func noteHidden(_ damage: LogDamage) {
      if damage.isUnreadable {
        return note([SalvageLoss(.outbox, "the log cannot be read; edits in it may be lost")])
      }
      found.withLock { $0.other = .repaired }
      let detail =
        "of the transactions behind a damaged page of the log only edits are taken over, also such that were settled since"
      note([SalvageLoss(.conflicts, detail)])
    }

    private func damage(ofLog log: String) throws(SyncError) -> LogDamage? {
      do throws(SyncError) {
        return try LogDamage.find(inLog: log)
      } catch {
        guard error.isOfDamagedStore else { throw error }
        return .unreadable(csqlite_size(log))
      }
    }

    /// Opens a copy, with as much of the log as can be used.
    private func openCopy(of source: String, _ uses: [LogUse]) throws(SyncError) -> Connection {
      var refusal: SyncError?
      for use in uses {
        do throws(SyncError) {
          let copy = try makeCopy(of: source, at: scratch, use)
          let connection = try usable(scratch, options: "?immutable=1")
          note(copy.losses)
          if use != uses.first {
            note([SalvageLoss(.outbox, "not all of the log can be used; edits in it may be lost")])
          }
          if copy.damagedPages > 0 { found.withLock { $0.other = .asItIs } }
          return connection
        } catch {
          remove(scratch)
          guard error.isOfDamagedStore else { throw error }
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
      guard let use = found.withLock(\.other) else {
        throw SyncError(.storeUnreadable, during: "opening the damaged store", "There is no other reading.")
      }
      let copy = try makeCopy(of: try source(), at: otherScratch, use)
      let connection = try usable(otherScratch, options: "?immutable=1")
      found.withLock { $0.otherLosses = copy.losses }
      return connection
    }

    /// Removes the copies that were made.
    func removeCopies() {
      for name in found.withLock(\.copies) { remove(name) }
    }

    private var otherScratch: String { scratch + "-other" }

    private func remove(_ copy: String) {
      for suffix in ["", "-wal", "-shm", "-journal"] { _ = csqlite_remove(copy + suffix) }
      found.withLock { _ = $0.copies.remove(copy) }
    }

    private func note(_ losses: [SalvageLoss]) {
      found.withLock { $0.losses += losses }
    }

    /// The file's own path. SQLite keeps the log beside the file, not beside a link to it.
    private func source() throws(SyncError) -> String {
      guard csqlite_kind_of_path(path) == 1, csqlite_is_readable(path) != 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the damaged store", "\(path) is missing, or cannot be read.")
      }
      let source = try StoreOpening.resolved(path)
      for suffix in ["", "-wal", "-shm"] {
        for copy in [scratch, otherScratch] where try StoreOpening.resolved(copy) == source + suffix {
          throw SyncError(
            .invalidConfiguration, during: "opening the damaged store",
            "The copy \(copy) would replace the damaged store; give it another name.")
        }
      }
      return source
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
        guard error.isOfDamagedStore || error.code == .storeReadOnly else { throw error }
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

    /// What a copy lacks.
    private struct Copy {
      var losses: [SalvageLoss] = []
      /// How many pages of the log are damaged, or left out.
      var damagedPages = 0
    }

    /// Makes a copy that is one file, with a whole header and list of tables.
    private func makeCopy(of source: String, at path: String, _ use: LogUse) throws(SyncError) -> Copy {
      remove(path)
      found.withLock { _ = $0.copies.insert(path) }
      let connection = try Connection(
        uri: StoreOpening.uri(source), flags: SQLITE_OPEN_READONLY, busyTimeout: .seconds(5))
      var copy = try holding(source, by: connection) { () throws(SyncError) in
        try copyFiles(of: source, connection, to: path, use)
      }
      try repairHeader(of: path)
      try mergeLog(of: path)
      // A damaged page of the log may have brought a damaged header.
      try repairHeader(of: path)
      if try repairSchema(of: path) {
        copy.losses.append(SalvageLoss(.declarations, "the list of the tables cannot be read in places"))
      }
      return copy
    }

    /// Keeps the log of a store from beginning anew during a body.
    ///
    /// Another connection could do so between the copies of the file and the log.
    func holding<R>(
      _ source: String, by connection: Connection, _ body: () throws(SyncError) -> R
    ) throws(SyncError) -> R {
      // SQLite would delete the log of an empty file.
      guard csqlite_kind_of_path(source + "-shm") == 1, csqlite_is_new(source) == 0 else {
        return try body()
      }
      connection.setCheckpointsOnClose(false)
      // What cannot be read cannot be held either; no other connection can use it then.
      let isHeld = (try? connection.execute("BEGIN")) != nil
      _ = try? connection.value("SELECT count(*) FROM sqlite_schema")
      defer { if isHeld { try? connection.execute("COMMIT") } }
      return try body()
    }

    private func copyFiles(
      of source: String, _ connection: Connection, to path: String, _ use: LogUse
    ) throws(SyncError) -> Copy {
      var copy = Copy()
      let pages = try FileCopy.make(ofFileOf: connection, at: path, during: Self.operation)
      if pages > 0 {
        let detail = "pages of the file cannot be read (\(pages)); edits in them may be lost"
        copy.losses.append(SalvageLoss(.outbox, detail))
      }
      let (log, hasLog) = (source + "-wal", csqlite_is_empty(source + "-wal") == 0)
      switch use {
      case .repaired:
        copy.damagedPages = try LogRepair.write(log, to: path + "-wal")
        if copy.damagedPages > 0 {
          let detail = "pages of the log are damaged (\(copy.damagedPages)); edits in them may be lost"
          copy.losses.append(SalvageLoss(.outbox, detail))
        }
      case .asItIs where hasLog: try FileCopy.make(ofLog: log, at: path + "-wal", during: Self.operation)
      case .asItIs, .withoutLog: break
      }
      return copy
    }

    private func repairHeader(of copy: String) throws(SyncError) {
      try demand(csqlite_repair_header(copy, UInt32(clamping: Migration.all.count)))
    }

    private func mergeLog(of copy: String) throws(SyncError) {
      guard csqlite_is_empty(copy + "-wal") == 0 else { return }
      let connection = try connection(copy, flags: SQLITE_OPEN_READWRITE, options: "")
      // SQLite finds the log with the first read.
      _ = try connection.value("PRAGMA user_version")
      try mergeLog(of: connection)
    }

    /// Closing would not tell of a failure.
    private func mergeLog(of connection: Connection) throws(SyncError) {
      let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
      guard code == SQLITE_OK else { throw connection.failed() }
    }

    /// Lists the tables of a copy anew, if the list is damaged.
    ///
    /// - Returns: Whether a part of the list cannot be read.
    private func repairSchema(of copy: String) throws(SyncError) -> Bool {
      let schema = try StoredSchema(
        connection(copy, flags: SQLITE_OPEN_READONLY, options: "?immutable=1")
      ) { Self.kind(ofPage: $0, in: copy) }
      guard let definitions = schema.repaired else { return schema.isCutShort }
      try demand(csqlite_empty_schema(copy))
      let connection = try connection(copy, flags: SQLITE_OPEN_READWRITE, options: "")
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
      try mergeLog(of: connection)
      return schema.isCutShort
    }

    /// Returns the first byte of one of a copy's pages; `nil` beyond its end.
    private static func kind(ofPage number: Int64, in copy: String) -> UInt8? {
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(copy) } ?? -EMFILE
      guard file >= 0 else { return nil }
      defer { csqlite_close(file) }
      var kind: UInt8 = 0
      return csqlite_read(file, &kind, 1, (number - 1) * 4096) == 1 ? kind : nil
    }

    /// Demands that a copy could be changed.
    private func demand(_ code: Int32) throws(SyncError) {
      if code != 0 { throw SQLiteFailure.ofCopy(code, during: Self.operation) }
    }

    static let operation = "copying the damaged store"
  }
#endif
