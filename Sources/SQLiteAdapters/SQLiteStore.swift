#if SQLite
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// A store in one SQLite file, for one process or several on one machine.
  ///
  /// ```swift
  /// let store = try await SQLiteStore.open(path: "schedule.db")
  /// ```
  ///
  /// The file can be read with any SQLite tool while the store is open; `Docs/StoreFormat.md` says what is where. Beside it lie the log
  /// (`-wal`), its index (`-shm`) and the lock file of the lease (`.lease`). All of them are readable by their owner alone.
  public final class SQLiteStore: LocalStore {
    let path: String
    let leaseClock: @Sendable () -> Timestamp
    let writer: SerialConnection
    private let copier: SerialConnection
    let readers: ReaderPool
    let heldLeases = Mutex<[Int64: LeaseFile]>([:])
    private let declarations = Mutex(Declarations())

    /// How a store is opened.
    public struct Configuration: Sendable {
      /// Whether nothing is written, for looking into a store; a missing file is then an error.
      public var isReadOnly: Bool
      /// How long a write waits for other processes' writes before it fails with `storeBusy`.
      public var busyTimeout: Duration
      /// How many reads run at the same time; others queue.
      public var readerCount: Int
      /// The most memory that the writing connection keeps of the file, in bytes: best what some pages of records change with all their indexes.
      public var cacheSize: Int
      /// The most memory that each reading connection keeps of the file, in bytes.
      ///
      /// A commit makes what readers have kept worthless, and the system keeps the file's pages as well, so more than a processor's own cache holds gains nothing.
      public var readerCacheSize: Int
      /// What the lease's end is compared with.
      public var leaseClock: @Sendable () -> Timestamp
      /// Where calls into SQLite run.
      public var executor: SQLiteExecutor

      /// Describes how a store is opened.
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
      let copier = SerialConnection(label: "CanonicalSync.copier", executor: configuration.executor) {
        () throws(SyncError) in try opening.openCopier()
      }
      self.copier = copier
      writer = SerialConnection(label: "CanonicalSync.writer", executor: configuration.executor) {
        () throws(SyncError) in
        let connection = try opening.openWriter()
        connection.copyLog(by: LogCopier(beside: copier.hasQueue ? copier : nil))
        return connection
      }
      readers = ReaderPool(
        (0..<max(1, configuration.readerCount)).map { number in
          SerialConnection(label: "CanonicalSync.reader.\(number)", executor: configuration.executor) {
            () throws(SyncError) in try opening.openReader()
          }
        })
    }

    /// Opens a store, and creates its file where it is missing.
    ///
    /// - Throws: `storeUnreadable` for a file that is no SQLite database, is damaged or belongs to another application; `storeNewer` for
    ///   one that a newer version of the library wrote. Neither is touched. `storeReadOnly` when the file would have to be
    ///   made or brought up to date and cannot be written; `storeFailure` when its directory is missing.
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

    /// Closes the file once the calls that have begun are done; later calls fail. Leases that are still held become free.
    public func close() async {
      await readers.close()
      await copier.close()
      await writer.close()
      heldLeases.withLock { $0 = [:] }
    }

    /// Makes the store fit for a schema.
    public func register(_ schema: SyncSchema) async throws(SyncError) {
      declarations.withLock { $0.declare(schema) }
      let declared = declarations.withLock { $0 }
      try await writer.run { connection throws(SyncError) in
        let isDone = try connection.transaction(.read) { () throws(SyncError) -> Bool in
          try connection.refreshCatalog(declared)
          return Registration.isDone(schema, in: connection.catalog)
        }
        if !isDone { try Registration(schema, on: connection).run() }
      }
    }

    /// Runs reads over one unchanging state of the store, beside other reads and beside a write.
    public func read<R: Sendable>(
      _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let declared = declarations.withLock { $0 }
      return try await readers.run { connection throws(SyncError) -> R in
        try connection.transaction(.read) { () throws(SyncError) -> R in
          try connection.refreshCatalog(declared)
          return try body(SQLiteSnapshot(on: connection))
        }
      }
    }

    /// Runs reads and writes as one transaction: whole, or not at all when the body throws.
    public func write<R: Sendable>(
      _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let declared = declarations.withLock { $0 }
      return try await writer.run { connection throws(SyncError) -> R in
        // The sync repeats what a power failure takes back; nobody would repeat the app's edits.
        try connection.transaction(.write, flushes: authority == .app) { () throws(SyncError) -> R in
          try connection.checkIsInPlace()
          try connection.demand(authority)
          try connection.refreshCatalog(declared)
          let transaction = SQLiteTransaction(on: connection)
          let result = try body(transaction)
          try transaction.noteObservedChanges()
          return result
        }
      }
    }
  }
#endif
