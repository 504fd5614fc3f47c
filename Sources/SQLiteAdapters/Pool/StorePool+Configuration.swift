#if SQLite
  import CanonicalSyncCSQLite

  extension StorePool {
    /// The budget of a pool, and the options of its stores.
    public struct Configuration: Sendable {
      /// The number of file descriptors that the pool's stores may have open at once.
      ///
      /// Each open store counts with ``SQLiteStore/Configuration/descriptors``, whether it is lent
      /// or not.
      public var descriptors: Int
      /// The number of threads that the pool's stores may use at once.
      ///
      /// Each lent store counts with ``SQLiteStore/Configuration/threads``. Dispatch has 255 for a
      /// process.
      public var threads: Int
      /// The options for opening each store.
      public var store: SQLiteStore.Configuration

      /// Creates a budget.
      ///
      /// - Parameters:
      ///   - descriptors: The number of file descriptors; by default as many as
      ///     ``spareDescriptors``.
      ///   - threads: The number of threads.
      ///   - store: The options of each store; by default one reading connection and small caches.
      public init(
        descriptors: Int? = nil, threads: Int = 64,
        store: SQLiteStore.Configuration = .init(
          readerCount: 1, cacheSize: 4 << 20, readerCacheSize: 1 << 20)
      ) {
        self.descriptors = descriptors ?? Self.spareDescriptors
        self.threads = threads
        self.store = store
      }

      /// Three quarters of the descriptors that the process may still open, but 1,024 at most.
      ///
      /// It depends on the process' limit (`RLIMIT_NOFILE`) and its open files at the time of the
      /// call. The rest is for connections to clients and remotes. The maximum bounds the memory of
      /// open stores.
      public static var spareDescriptors: Int {
        let most = 1024
        return min(most, Int(csqlite_free_descriptors(Int32(most * 2))) / 4 * 3)
      }
    }

    /// The use of a pool at one instant.
    public struct Occupancy: Hashable, Sendable {
      /// The number of stores that are open, including those that are being opened or closed.
      public var open: Int
      /// The number of stores that are lent or being opened.
      public var busy: Int
      /// The number of requests that wait.
      public var waiting: Int
    }
  }

  extension SQLiteStore.Configuration {
    /// The largest number of file descriptors that a store with these options has open.
    ///
    /// Each connection has the file and its log open: one that writes, one that copies the log, and
    /// ``readerCount`` that read, each opened at its first use. The others are the log's index, the
    /// lease, and two that are open for a moment, such as a temporary file.
    public var descriptors: Int { 2 * connections + 4 }

    /// The largest number of threads that a store with these options uses at once.
    ///
    /// A connection uses one while it has work.
    public var threads: Int { connections }

    private var connections: Int { 2 + max(1, readerCount) }
  }
#endif
