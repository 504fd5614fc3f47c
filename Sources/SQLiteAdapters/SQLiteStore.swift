#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// A store in one SQLite file, for one process or several on one machine.
  ///
  /// ```swift
  /// let store = try await SQLiteStore.open(path: "schedule.db")
  /// ```
  ///
  /// Any SQLite tool can read the file while the store is open; `Docs/StoreFormat.md` describes its
  /// tables. The log (`-wal`), its index (`-shm`) and the lock file of the lease (`.lease`) lie
  /// beside it. Only their owner can read these files.
  ///
  /// If another process migrates the file for a newer version of the library, the next read or
  /// write throws `storeNewer`.
  ///
  /// If a process uses SQLite first by opening a store, SQLite keeps no statistics of its memory:
  /// for these, all threads would wait for each other. `sqlite3_memory_used` then returns 0, and
  /// heap limits have no effect. An app that needs them calls `sqlite3_initialize` before.
  public final class SQLiteStore: LocalStore, SharedStore {
    let path: String
    let leaseClock: @Sendable () -> Timestamp
    let writer: SerialConnection<Connection>
    let copier: SerialConnection<Connection>
    let readers: ReaderPool
    let heldLeases = Mutex<[(fence: Int64, file: LeaseFile)]>([])
    private let declarations = Mutex(Declarations())
    private let commits = Atomic<Int64>(0)
    let isSuspended = Atomic<Bool>(false)

    /// The options for opening a store.
    public struct Configuration: Sendable {
      /// Whether the store is only read. A missing file is then an error.
      public var isReadOnly: Bool
      /// The time that a write waits for other processes' writes before it fails with `storeBusy`.
      public var busyTimeout: Duration
      /// The number of simultaneous reads; further reads queue.
      public var readerCount: Int
      /// The cache of the writing connection, in bytes.
      ///
      /// The best size holds the pages that some pages of records change, with all their indexes.
      /// Until much has been written, the cache has 2 MiB at most.
      public var cacheSize: Int
      /// The cache of each reading connection, in bytes.
      ///
      /// A commit invalidates the readers' caches, and the system caches the file's pages as well.
      /// A cache larger than the processor's own gains nothing.
      public var readerCacheSize: Int
      /// The clock for the lease's end.
      public var leaseClock: @Sendable () -> Timestamp
      /// Runs the calls into SQLite.
      public var executor: SQLiteExecutor
      /// Whether the file may be on a network file system, such as NFS or SMB.
      ///
      /// The processes of one machine may then use it, and no other machine: SQLite's log has its
      /// index in shared memory.
      public var allowsNetworkFileSystem = false
      /// The number of a directory's file system, for tests.
      package var fileSystem: @Sendable (String) -> Int = { csqlite_file_system($0) }

      /// Creates the options for opening a store.
      public init(
        isReadOnly: Bool = false, busyTimeout: Duration = .seconds(5), readerCount: Int = 3,
        cacheSize: Int = 24 << 20, readerCacheSize: Int = 2 << 20,
        leaseClock: @escaping @Sendable () -> Timestamp = { ContinuousClock().timestamp },
        executor: SQLiteExecutor = .dispatch
      ) {
        self.isReadOnly = isReadOnly
        self.busyTimeout = busyTimeout
        self.readerCount = readerCount
        self.cacheSize = cacheSize
        self.readerCacheSize = readerCacheSize
        self.leaseClock = leaseClock
        self.executor = executor
      }
    }

    private init(_ opening: StoreOpening) {
      path = opening.path
      let configuration = opening.configuration
      leaseClock = configuration.leaseClock
      let makeQueue = configuration.executor.makeQueue
      let copier = SerialConnection(on: makeQueue("CanonicalSync.copier")) { () throws(SyncError) in
        try opening.openCopier()
      }
      self.copier = copier
      writer = SerialConnection(on: makeQueue("CanonicalSync.writer")) { () throws(SyncError) in
        let connection = try opening.openWriter()
        connection.cache = ConnectionCache(.connection)
        connection.copyLog(by: LogCopier(beside: copier.hasQueue ? copier : nil))
        return connection
      }
      readers = ReaderPool(
        (0..<max(1, configuration.readerCount)).map { number in
          SerialConnection(on: makeQueue("CanonicalSync.reader.\(number)")) { () throws(SyncError) in
            try opening.openReader()
          }
        }, usesTaskThreads: configuration.executor.usesTaskThreads)
    }

    /// Opens a store, and creates its file if it is missing.
    ///
    /// If SQLite ignores transactions of a damaged log, the files are copied first, to names that
    /// end in `.damaged` and `.damaged-wal`: writing would destroy those transactions. A
    /// verification names the copies.
    ///
    /// - Throws: `storeUnreadable` for a file that is not an SQLite database, is damaged, belongs
    ///   to another application, or has several names; `storeNewer` for a file that a newer version
    ///   of the library wrote. Both leave the file unchanged. `storeReadOnly` if the file or its
    ///   directory cannot be written, unless ``Configuration/isReadOnly``; also for a read-only store
    ///   of an older layout. `storeFailure` if the directory or a read-only store is missing, the
    ///   file's permissions forbid to read it, or too few file descriptors are free. `storeFull` if
    ///   there is no room, also for the copies. `cancelled` if the task is cancelled while they are
    ///   made. `storeBusy` after ``Configuration/busyTimeout``. `invalidConfiguration` for an empty
    ///   path, one with a NUL, or a file on a network file system, unless
    ///   ``Configuration/allowsNetworkFileSystem``.
    public static func open(
      path: String, configuration: Configuration = .init()
    ) async throws(SyncError) -> SQLiteStore {
      try await open(path: path, configuration: configuration, migrations: Migration.all)
    }

    package static func open(
      path: String, configuration: Configuration = .init(), migrations: [Migration]
    ) async throws(SyncError) -> SQLiteStore {
      let store = SQLiteStore(
        try StoreOpening(path: path, configuration: configuration, migrations: migrations))
      try await store.writer.run { _ in }
      return store
    }

    /// Closes the file after the calls that have begun; later calls fail.
    ///
    /// Leases that are still held become free.
    public func close() async {
      await readers.close()
      await copier.close()
      await writer.close()
      heldLeases.withLock { $0 = [] }
    }

    /// Prepares the store for a schema.
    public func register(_ schema: SyncSchema) async throws(SyncError) {
      declarations.withLock { $0.declare(schema) }
      let declared = declarations.withLock { $0 }
      try await writer.run { connection throws(SyncError) in
        let isDone = try connection.transaction(.read) { () throws(SyncError) -> Bool in
          try connection.refreshCatalog(declared)
          return connection.catalog.isPrepared(for: schema)
        }
        if isDone { return }
        try demandAwake()
        try Registration(schema, on: connection).run()
      }
    }

    /// Runs reads over one snapshot of the store, concurrently with other reads and one write.
    public func read<R: Sendable>(
      _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let declared = declarations.withLock { $0 }
      return try await readers.run { connection throws(SyncError) -> R in
        try connection.cache.scope { () throws(SyncError) -> R in
          try connection.transaction(.read) { () throws(SyncError) -> R in
            try connection.refreshCatalog(declared)
            return try body(SQLiteSnapshot(on: connection))
          }
        }
      }
    }

    /// Runs reads and writes as one transaction.
    ///
    /// If the body or the commit throws, nothing is written. If an app's commit could not be
    /// flushed and the process dies before the next one, SQLite may find it in its log again, as a
    /// whole. A sync's transaction that notes an edit as sent is flushed after its commit; if that
    /// fails, the error is thrown, and the transaction stands.
    public func write<R: Sendable>(
      _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let declared = declarations.withLock { $0 }
      defer { commits.add(1, ordering: .relaxed) }
      return try await writer.run { connection throws(SyncError) -> R in
        try demandAwake()
        return try connection.cache.scope { () throws(SyncError) -> R in
          // A sync repeats the commits that a power failure loses. An app's edits would not be
          // repeated.
          try connection.transaction(.write, flushes: authority == .app) { () throws(SyncError) -> R in
            try connection.checkIsInPlace()
            try connection.refreshCatalog(declared)
            try connection.demand(authority)
            try connection.demandPlace(connection.movedTo)
            let transaction = SQLiteTransaction(on: connection, of: writer)
            let result = try body(transaction)
            try transaction.noteObservedChanges()
            return result
          }
        }
      }
    }

    /// Returns a mark of the commits, from the header of the log's index.
    public func commitMark() async throws(SyncError) -> CommitMark {
      // SQLite changes the number of a connection for the commits of the others.
      let others = try await writer.run { connection throws(SyncError) in
        try connection.value("PRAGMA data_version")
      }
      return CommitMark(own: commits.load(ordering: .relaxed), others: others ?? 0)
    }
  }
#endif
