#if SQLite && os(Linux)
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import Testing

  /// Stores in a process with few file descriptors. Each test has a process of its own.
  @Suite(
    "Stores and file descriptors", .serialized, .timeLimit(.minutes(10)),
    .disabled(
      if: ProcessInfo.processInfo.environment["CANONICALSYNC_BRIEF"] != nil,
      "A sanitizer uses descriptors and memory of its own."))
  struct DescriptorTests {
    @Test func aShortageIsToldWithItsRemedy() async {
      await #expect(processExitsWith: .success) {
        let directory = try TemporaryDirectory()
        let made = try await SQLiteStore.open(path: directory.file("old.db"))
        await made.close()
        try Process.limitDescriptors(to: 64)
        let taken = Process.takeDescriptors(leaving: 4)
        for name in ["new.db", "old.db"] {
          let error = await #expect(throws: SyncError.self) {
            _ = try await SQLiteStore.open(path: directory.file(name))
          }
          #expect(error?.code == .storeFailure)
          #expect(error?.message.contains("too many open files, of 64") == true, "\(error?.message ?? "")")
          #expect(error?.message.contains("ulimit -n") == true)
        }
        for file in taken { close(file) }
        let store = try await SQLiteStore.open(path: directory.file("old.db"))
        await store.close()
        #expect(try directory.names.contains("new.db") == false)
      }
    }

    @Test func readersToldOfAShortageOpenAfterIt() async {
      await #expect(processExitsWith: .success) {
        let directory = try TemporaryDirectory()
        let store = try await SQLiteStore.open(path: directory.file("a.db"))
        try await store.register(SyncSchema(Entity("games")))
        try Process.limitDescriptors(to: 64)
        let taken = Process.takeDescriptors(leaving: 4)
        for _ in 0..<3 {
          let error = await #expect(throws: SyncError.self) { try await DescriptorTests.count(in: store) }
          #expect(error?.code == .storeFailure && error?.message.contains("ulimit -n") == true)
        }
        for file in taken { close(file) }
        #expect(try await DescriptorTests.count(in: store) == 0)
        await store.close()
      }
    }

    /// Dispatch reads its threads' state from files every second, and aborts if it cannot.
    @Test func storesLeaveSomeDescriptorsToTheProcess() async {
      await #expect(processExitsWith: .success) {
        let directory = try TemporaryDirectory(inMemory: true)
        try Process.limitDescriptors(to: 128)
        let end = ContinuousClock.now + .seconds(3)
        var stores: [SQLiteStore] = []
        var refusals = 0
        let latest = end + .seconds(120)
        while ContinuousClock.now < end
          || (stores.count <= 10 || refusals <= 100) && ContinuousClock.now < latest
        {
          await withTaskGroup(of: SQLiteStore?.self) { tasks in
            for number in 0..<32 {
              let path = directory.file("\(stores.count)-\(refusals)-\(number).db")
              tasks.addTask { try? await SQLiteStore.open(path: path) }
            }
            for await store in tasks {
              if let store { stores.append(store) } else { refusals += 1 }
            }
          }
          let left = (Int32(0)..<128).count { fcntl($0, F_GETFD) == -1 }
          #expect(left >= 16)
        }
        #expect(stores.count > 10 && refusals > 100)
        for store in stores { await store.close() }
      }
    }

    @Test func aStoreHasNoMoreOpenThanItCounts() async {
      await #expect(processExitsWith: .success) {
        let directory = try TemporaryDirectory()
        for readers in [1, 3] {
          let configuration = SQLiteStore.Configuration(readerCount: readers)
          let store = try await SQLiteStore.open(
            path: directory.file("\(readers).db"), configuration: configuration)
          try await store.register(SyncSchema(Entity("games")))
          let lease = try await store.acquireLease(for: .seconds(60))
          // More bytes than the log may have before it is copied, and all readers at once.
          for number in 0..<30 {
            try await store.execute("INSERT INTO state VALUES ('\(number)', zeroblob(1000000))")
          }
          try await withThrowingTaskGroup(of: Int.self) { tasks in
            for _ in 0..<50 { tasks.addTask { try await DescriptorTests.count(in: store) } }
            try await tasks.waitForAll()
          }
          let open = try Process.openDescriptors(in: directory.path)
          #expect(open > 2 * readers && open <= configuration.descriptors, "\(open)")
          try await store.release(lease)
          await store.close()
          #expect(try Process.openDescriptors(in: directory.path) == 0)
        }
      }
    }

    @Test func aThousandTenantsAskAtOnce() async {
      await #expect(processExitsWith: .success) {
        try Process.limitDescriptors(to: 1024)
        let crowd = try Crowd(records: 100)
        // The first stores bring memory that a process takes once.
        try await crowd.sync(0..<40)
        let start = try Process.residentBytes()
        try await crowd.sync(0..<1000)
        let peak = try Process.bytes("VmHWM:")
        #expect(peak < 500 << 20, "\(peak >> 20) MB")
        // The threads end some seconds after their work, and their allocators' caches with them.
        // The suite's time limit is the failure.
        while try Process.residentBytes() > start / 10 * 11 { await Task.yield() }
        print("start \(start >> 20) MB, peak \(peak >> 20) MB, end \(try Process.residentBytes() >> 20) MB")
      }
    }

    static func count(in store: SQLiteStore) async throws -> Int {
      try await store.read { snapshot throws(SyncError) in try snapshot.records(Query("games")).count }
    }
  }

  /// Many stores that sync with one remote, through a pool.
  private struct Crowd {
    private let directory: TemporaryDirectory
    private let remote = InMemoryRemote(clock: ManualClock())
    private let schema: SyncSchema
    private let records: Int

    init(records: Int) throws {
      directory = try TemporaryDirectory(inMemory: true)
      schema = try SyncSchema(Entity("games"))
      self.records = records
      for number in 0..<records {
        remote.upsert(
          "games", "g\(number)",
          #"{"home":"t\#(number % 7)","note":"\#(String(repeating: "n", count: 300))"}"#)
      }
    }

    /// Syncs some tenants, who all ask at once, in a pool that is then closed.
    func sync(_ tenants: Range<Int>) async throws {
      let pool = try StorePool { [schema] store in try await store.register(schema) }
      try await withThrowingTaskGroup(of: Int.self) { tasks in
        for tenant in tenants {
          tasks.addTask { [self] in
            try await pool.withStore(at: directory.file("tenant-\(tenant).db")) { store in
              let engine = try await SyncEngine(schema: schema, store: store, source: remote)
              _ = try await engine.sync()
              return try await DescriptorTests.count(in: store)
            }
          }
        }
        for try await count in tasks { #expect(count == records) }
      }
      await pool.close()
    }
  }

  extension Process {
    /// Lets the process have so many descriptors, those of the system included.
    ///
    /// It inherits sockets of the process that started it, as libcurl opens some that stay open in
    /// children. They would leave none for the test, and are closed.
    static func limitDescriptors(to count: UInt) throws {
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        var status = stat()
        guard let file = Int32(name), file > 2, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK
        else { continue }
        close(file)
      }
      var limit = rlimit(rlim_cur: count, rlim_max: count)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }

    /// Opens files until few more can be opened.
    static func takeDescriptors(leaving count: Int) -> [Int32] {
      var taken: [Int32] = []
      while case let file = open("/dev/null", O_RDONLY), file >= 0 { taken.append(file) }
      for file in taken.suffix(count) { close(file) }
      return taken.dropLast(count)
    }

    /// The number of descriptors of files in a directory. Dispatch opens and closes others.
    static func openDescriptors(in directory: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        return target?.hasPrefix(directory) == true
      }
    }

    /// A number of `/proc/self/status`, in bytes.
    static func bytes(_ name: String) throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
      return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// The resident memory after the allocator has returned what it can.
    static func residentBytes() throws -> Int {
      let trim = try #require(dlsym(nil, "malloc_trim"))
      _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
      return try bytes("VmRSS:")
    }
  }
#endif
