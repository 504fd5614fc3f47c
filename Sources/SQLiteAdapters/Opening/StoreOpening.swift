#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Opens connections to a store's file, after checking that the file is a store.
  struct StoreOpening: Sendable {
    let path: String
    let configuration: SQLiteStore.Configuration
    let migrations: [Migration]

    init(path: String, configuration: SQLiteStore.Configuration, migrations: [Migration]) throws(SyncError) {
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw SyncError(
          .invalidConfiguration, during: "opening the store", "The path is empty or has a NUL in it.")
      }
      // Some names have a special meaning in SQLite. None of them has a slash.
      self.path = try Self.resolved(path.utf8.first == UInt8(ascii: "/") ? path : "./" + path)
      self.configuration = configuration
      self.migrations = migrations
    }

    /// Opens the writing connection, which is the first one. It checks or creates the file.
    func openWriter() throws(SyncError) -> Connection {
      // The file, its log and the log's index; for a moment the lease, the directory or a journal.
      try withDescriptors(5, prepareWriter)
    }

    private func prepareWriter() throws(SyncError) -> Connection {
      let isMissing = try checkPath()
      try checkFileSystem()
      if !isMissing { try checkPermission() }
      let connection = try isMissing ? create() : open()
      // A file that the checks refuse stays unchanged.
      connection.setCheckpointsOnClose(false)
      let label = try label(of: connection)
      try check(label)
      if !connection.isReadOnly {
        if !isMissing { try KeptFiles(of: path).keep(connection) }
        // A copy of a store has no log yet.
        let mode = try connection.text("PRAGMA journal_mode")
        if label.version < migrations.count || mode != "wal" {
          // The journal mode cannot change inside a transaction, and a busy file fails without a
          // wait.
          try untilNotBusy { () throws(SyncError) in try connection.execute("PRAGMA journal_mode = WAL") }
        }
        if label.version < migrations.count { try connection.migrate(by: migrations) }
        connection.setCheckpointsOnClose(true)
      } else if label.version < migrations.count {
        throw layoutToUpdate(label)
      }
      // The pages that a transaction changes need room beside those that it reads. Otherwise they
      // are written twice.
      try settle(connection, cache: configuration.cacheSize)
      return connection
    }

    /// The reason why a file of an earlier layout cannot be read as it is.
    private func layoutToUpdate(_ label: Connection.Label) -> SyncError {
      if label.version == 0, label.isEmpty {
        return SyncError(
          .storeUnreadable, during: "opening the store",
          "There is no store in \(path) yet: it is empty, or just being made.")
      }
      return SyncError(
        .storeReadOnly, during: "opening the store",
        """
        The store has layout \(label.version), and only a process that writes brings it to \
        \(migrations.count): open it once for writing.
        """)
    }

    /// Opens a connection that only reads. The writing connection has been opened before.
    func openReader() throws(SyncError) -> Connection {
      try withDescriptors(2) { () throws(SyncError) in
        let connection = try open()
        try settle(connection, cache: configuration.readerCacheSize)
        try connection.execute("PRAGMA query_only = 1")
        return connection
      }
    }

    /// Opens the connection that copies the log, and writes nothing else.
    ///
    /// The writing connection has been opened before.
    func openCopier() throws(SyncError) -> Connection {
      try withDescriptors(2) { () throws(SyncError) in
        let connection = try open()
        try settle(connection, cache: 0)
        return connection
      }
    }

    // MARK: Checks

    /// Resolves symbolic links, because the files beside the store are found by its name.
    ///
    /// A link may lead to a store that does not exist yet. Its log and its lease lie beside the
    /// link's target.
    static func resolved(_ path: String) throws(SyncError) -> String {
      var path = path
      // The kernel follows 40 links. In a longer chain, or a circle, the path stays as it is and
      // cannot be opened.
      for _ in 0..<40 {
        if let real = try text(csqlite_real_path(path)) { return real }
        guard let target = try text(csqlite_link_target(path)) else { break }
        path = target.utf8.first == UInt8(ascii: "/") ? target : directory(of: path) + "/" + target
      }
      let directory = directory(of: path)
      guard let real = try text(csqlite_real_path(directory)) else { return path }
      return (real == "/" ? "" : real) + path.dropFirst(directory == "/" ? 0 : directory.count)
    }

    /// Copies a name that the system allocated, and frees it.
    private static func text(_ name: UnsafeMutablePointer<CChar>?) throws(SyncError) -> String? {
      guard let name else { return nil }
      defer { csqlite_free(name) }
      guard let text = String(validatingCString: name) else {
        throw SyncError(
          .invalidConfiguration, during: "opening the store",
          "The path leads to a name that is not UTF-8; rename that file or directory.")
      }
      return text
    }

    /// Checks the path, and returns whether the file has to be created.
    private func checkPath() throws(SyncError) -> Bool {
      switch csqlite_kind_of_path(path) {
      case 1: return false
      case 0: break
      default:
        throw SyncError(.storeUnreadable, during: "opening the store", "\(path) is not a regular file.")
      }
      try checkFileIsNotLost("it is missing")
      if configuration.isReadOnly {
        throw SyncError(
          .storeFailure, during: "opening the store",
          "There is no store at \(path), and a read-only store is not created.")
      }
      guard csqlite_kind_of_path(directory) == 2 else {
        throw SyncError(
          .storeFailure, during: "opening the store",
          "The directory \(directory) does not exist; create it first.")
      }
      return true
    }

    /// Refuses a file system whose files other machines may have, as SQLite's log is not for those.
    private func checkFileSystem() throws(SyncError) {
      if configuration.allowsNetworkFileSystem { return }
      guard let name = Self.networkFileSystem(configuration.fileSystem(directory)) else { return }
      throw SyncError(
        .invalidConfiguration, during: "opening the store",
        """
        \(path) is on \(name), where machines that use one file destroy it. Put it on a local disk, use a store in \
        PostgreSQL for several machines, or set allowsNetworkFileSystem if one machine alone uses the file.
        """)
    }

    /// The name of a network file system by its number in Linux's `statfs(2)`; `nil` for others.
    private static func networkFileSystem(_ number: Int) -> String? {
      switch number {
      case -1: "a network file system"
      case 0x6969: "NFS"
      case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
      case 0x5346_414F: "AFS"
      case 0x00C3_6400: "Ceph"
      case 0x0BD0_0BD0: "Lustre"
      default: nil
      }
    }

    /// Refuses a log that SQLite cannot read without a further file beside it.
    private func checkLogIsReadable() throws(SyncError) {
      guard csqlite_is_empty(path + "-wal") == 0, csqlite_kind_of_path(path + "-shm") == 0,
        csqlite_is_writable(directory) == 0
      else { return }
      throw SyncError(
        .storeReadOnly, during: "opening the store",
        """
        \(path) has a log, and \(directory) cannot be written: SQLite needs a file there to read the log. \
        Copy the store and its log, \(path)-wal, to another directory.
        """)
    }

    private func label(of connection: Connection) throws(SyncError) -> Connection.Label {
      do throws(SyncError) {
        return try untilNotBusy { () throws(SyncError) in
          // One transaction, because another process may create the store between two reads.
          try connection.transaction(.read) { () throws(SyncError) in try connection.label() }
        }
      } catch {
        guard error.code == .storeUnreadable else { throw error }
        throw SyncError(
          .storeUnreadable, during: "opening the store",
          "\(path) is not a store, or is damaged; it was not touched.", underlying: error)
      }
    }

    /// Refuses files that SQLite would open, only to fail later with an unclear reason.
    private func checkPermission() throws(SyncError) {
      guard csqlite_is_readable(path) != 0 else {
        throw SyncError(
          .storeFailure, during: "opening the store",
          "\(path) cannot be read; it belongs to another user, or its permissions forbid it.")
      }
      try checkFileIsNotLost("it is empty")
      guard csqlite_link_count(path) <= 1 else {
        // The log and the lease lie beside one of the names. A process that uses another name would
        // not find them.
        throw SyncError(
          .storeUnreadable, during: "opening the store",
          "\(path) has more than one name (hard links); a store needs to have one.")
      }
      guard !configuration.isReadOnly else { return try checkLogIsReadable() }
      for place in [path, directory] where csqlite_is_writable(place) == 0 {
        throw SyncError(
          .storeReadOnly, during: "opening the store",
          "\(place) cannot be written; make it writable, or open the store read-only.")
      }
    }

    /// Refuses a log whose file is missing or empty, because SQLite would delete the log.
    private func checkFileIsNotLost(_ fault: String) throws(SyncError) {
      // While another process creates the store, the file is no longer empty once the log is not.
      guard csqlite_is_new(path) != 0, csqlite_is_empty(path + "-wal") == 0, csqlite_is_new(path) != 0
      else { return }
      throw SyncError(
        .storeUnreadable, during: "opening the store",
        """
        \(path) is damaged: \(fault), and its log is not. SQLite would delete the log, \(path)-wal; neither \
        was touched. Put the file back, or remove the log if the store is to be a new one.
        """)
    }

    private func check(_ label: Connection.Label) throws(SyncError) {
      if label.applicationID == 0, label.version == 0, label.isEmpty { return }
      guard label.applicationID == Connection.applicationID else {
        throw SyncError(
          .storeUnreadable, during: "opening the store",
          "\(path) is a database of another application; it was not touched.")
      }
      guard label.version >= 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the store", "\(path) is damaged; it was not touched.")
      }
      guard label.version <= migrations.count else {
        throw SyncError(
          .storeNewer, during: "opening the store",
          """
          \(path) has layout \(label.version) and this version of the library knows \(migrations.count): \
          update the app. The store was not touched.
          """)
      }
    }

    /// The directory of the store's files.
    private var directory: String { Self.directory(of: path) }

    static func directory(of path: String) -> String {
      let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
      return end == path.startIndex ? "/" : String(path[..<end])
    }

    // MARK: Connections

    private func create() throws(SyncError) -> Connection {
      // SQLite gives new files this one's permissions, so they are private from the start.
      let lease = LeaseFile.path(besideStore: path)
      let file: LeaseFile
      do {
        file = try LeaseFile(besideStore: path)
      } catch {
        if let reason = error.systemAdvice {
          throw SyncError(error.meaning, during: "creating the store", reason, underlying: error)
        }
        throw SyncError(
          .storeReadOnly, during: "creating the store", "No file can be created in \(directory).",
          underlying: error)
      }
      // An existing file may be open to other users.
      guard file.makePrivate() else {
        throw SyncError(
          .storeReadOnly, during: "creating the store",
          "\(lease) belongs to another user and can be read by others; remove it first.")
      }
      return try connection(
        flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, options: "?modeof=" + Self.escaped(lease))
    }

    private func open() throws(SyncError) -> Connection {
      guard configuration.isReadOnly else { return try connection(flags: SQLITE_OPEN_READWRITE, options: "") }
      let connection = try connection(
        flags: SQLITE_OPEN_READONLY, options: isOnReadOnlyMedium ? "?immutable=1" : "")
      connection.setCheckpointsOnClose(false)
      return connection
    }

    /// Whether the medium is read-only, so that no process can be writing.
    ///
    /// A reader of a log needs a file beside it, which cannot be created on such a medium.
    private var isOnReadOnlyMedium: Bool {
      csqlite_is_writable(directory) == 0
        && csqlite_kind_of_path(path + "-shm") == 0 && csqlite_is_empty(path + "-wal") != 0
    }

    private func connection(flags: Int32, options: String) throws(SyncError) -> Connection {
      let connection = try Connection(
        uri: Self.uri(path) + options, flags: flags, busyTimeout: configuration.busyTimeout,
        newestLayout: migrations.count)
      // SQLite opens a file to read it only where it cannot be opened to write it, for any reason.
      // The permission has been checked.
      if flags & SQLITE_OPEN_READWRITE != 0, connection.isReadOnly {
        let failure = SQLiteFailure(code: SQLITE_CANTOPEN).withShortage
        if failure.systemAdvice != nil { throw failure.error(during: "opening the store") }
      }
      return connection
    }

    /// Opens a connection if the process can have so many more files open.
    private func withDescriptors(
      _ count: Int, _ open: () throws(SyncError) -> Connection
    ) throws(SyncError) -> Connection {
      guard let connection = try DescriptorMargin.hold(count, open) else {
        throw SQLiteFailure(code: SQLITE_CANTOPEN, systemError: EMFILE).error(during: "opening the store")
      }
      return connection
    }

    private func settle(_ connection: Connection, cache bytes: Int) throws(SyncError) {
      try connection.execute("PRAGMA synchronous = NORMAL")
      try connection.setCache(bytes: bytes)
      guard !connection.isReadOnly else { return }
      // Without these, Apple's systems leave flushed bytes in the drive's cache.
      try connection.execute("PRAGMA fullfsync = 1")
      try connection.execute("PRAGMA checkpoint_fullfsync = 1")
      _ = try connection.value("PRAGMA wal_autocheckpoint = 0")
      _ = try connection.value("PRAGMA journal_size_limit = \(LogCopier.lengthToKeep)")
    }

    /// Retries until the busy timeout, where SQLite itself does not wait.
    private func untilNotBusy<R>(_ body: () throws(SyncError) -> R) throws(SyncError) -> R {
      let end = ContinuousClock.now + configuration.busyTimeout
      while true {
        do {
          return try body()
        } catch {
          guard error.code == .storeBusy, ContinuousClock.now < end else { throw error }
          _ = sqlite3_sleep(5)
        }
      }
    }

    /// The URI of a file.
    ///
    /// What follows two slashes would be the name of a host, so an absolute path gets an empty one.
    static func uri(_ path: String) -> String {
      (path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:") + escaped(path)
    }

    /// Escapes a path for a URI.
    private static func escaped(_ path: String) -> String {
      let digits = Array("0123456789ABCDEF".utf8)
      var bytes: [UInt8] = []
      for byte in path.utf8 {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "&"), UInt8(ascii: "="):
          bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default:
          bytes.append(byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
