#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import Synchronization
  import Testing

  @testable import SQLiteAdapters

  /// An app's life on a disk: it opens a store, edits, syncs and closes it.
  ///
  /// Other clients edit at the remote between two rounds of edits and syncs.
  final class DiskLife {
    /// The one fault of a life.
    enum Trouble {
      case fault(FaultyDisk.Fault)
      /// A limit of pages beyond those of an empty store, until it is raised.
      case room(pages: Int)
    }

    /// The result of a life without faults.
    struct Course {
      /// The store's contents after each transaction, in order.
      var contents = [""]
      /// The indexes of the contents after the app's own edits.
      var edits: [Int] = []
      var remote: [RecordType: [String: String]] = [:]
    }

    let directory: TemporaryDirectory
    let disk: FaultyDisk
    let remote: InMemoryRemote
    private let schema: SyncSchema
    private let clock = ManualClock()
    private var store: SQLiteStore?
    private var engine: SyncEngine?
    private var step = 0
    // The fault, for failure messages.
    private var name: Comment = "a course without trouble"
    private var onCommit: (@Sendable () throws(SyncError) -> Void)?
    private var onEdit: (() -> Void)?

    private var path: String { directory.file("store.db") }

    init() throws {
      directory = try TemporaryDirectory(inMemory: true)
      disk = FaultyDisk(directory)
      schema = try SyncSchema(
        Entity("places", stamping: .none),
        Entity("meters", references: [.to("places", by: "place")], stamping: .none))
      remote = InMemoryRemote(clock: clock)
      for number in 0..<3 { remote.upsert("places", "p\(number)", #"{"name":"P\#(number)"}"#) }
      for number in 0..<6 { remote.upsert("meters", "m\(number)", #"{"place":"p\#(number % 3)"}"#) }
    }

    // MARK: Steps

    /// Does the remaining work.
    func live(busyTimeout: Duration) async throws(SyncError) {
      let store = try await opened(busyTimeout)
      let engine = try await begun(on: store)
      while step < 5 {
        switch step {
        case 0: try await edit(engine, place: "new", meter: "new", gone: nil)
        case 2:
          remote.upsert("meters", "m2", #"{"place":"p0","note":"theirs"}"#)
          remote.delete("meters", "m3")
          remote.upsert("meters", "m9", #"{"place":"p1"}"#)
        case 3: try await edit(engine, place: "p1", meter: "m1", gone: "m5")
        default:
          let result = try await engine.sync()
          if let failure = result.failures.first { throw failure.error }
        }
        step += 1
      }
    }

    private func opened(_ busyTimeout: Duration) async throws(SyncError) -> SQLiteStore {
      if let store { return store }
      let opened = try await SQLiteStore.open(
        path: path, configuration: .init(busyTimeout: busyTimeout, readerCount: 1, executor: .inline))
      store = opened
      return opened
    }

    private func begun(on store: SQLiteStore) async throws(SyncError) -> SyncEngine {
      if let engine { return engine }
      let begun = try await SyncEngine(
        schema: schema, store: onCommit.map { ToldStore(base: store, onCommit: $0) } ?? store, source: remote,
        sink: remote, clock: clock,
        options: SyncOptions(
          pageSize: 4, pagesAhead: 0, maximumConcurrentTypes: 1, retry: RetryPolicy(attempts: 1)),
        random: RepeatedNumber())
      engine = begun
      return begun
    }

    private func edit(
      _ engine: SyncEngine, place: String, meter: String, gone: String?
    ) async throws(SyncError) {
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "places", key: place)) { $0["name"] = Array(#""ours""#.utf8)[...] }
        try batch.set(RecordID(type: "meters", key: meter)) { $0["place"] = Array("\"\(place)\"".utf8)[...] }
        if let gone { try batch.delete(RecordID(type: "meters", key: gone)) }
      }
      onEdit?()
    }

    private func close() async {
      await store?.close()
      (store, engine) = (nil, nil)
    }

    // MARK: Lives

    /// Runs a life without faults.
    static func course() async throws -> Course {
      let life = try DiskLife()
      let course = Mutex(Course())
      let path = life.path
      life.onCommit = { () throws(SyncError) in
        let contents = try StoreContents.read(path)
        course.withLock { if $0.contents.last != contents { $0.contents.append(contents) } }
      }
      life.onEdit = { course.withLock { $0.edits.append($0.contents.count - 1) } }
      try await life.live(busyTimeout: .seconds(5))
      await life.close()
      let remote = life.recordsAtRemote
      return course.withLock { course in
        course.remote = remote
        return course
      }
    }

    /// Runs a life with a fault.
    ///
    /// The fault must be reported with its code, leave no partial write, and end with its cause.
    /// Returns `false` if the fault never occurred.
    func run(_ trouble: Trouble, expecting code: SyncError.Code, _ course: Course) async throws -> Bool {
      name = "with \(trouble)"
      switch trouble {
      case .fault(let fault): disk.expect(fault)
      case .room(let pages):
        let store = try await opened(.seconds(5))
        _ = try await begun(on: store)
        try await store.limitPages(to: Int(try await store.number("PRAGMA page_count") ?? 0) + pages)
      }
      var hasFailed = false
      while true {
        do throws(SyncError) {
          try await live(busyTimeout: .milliseconds(1))
          break
        } catch {
          #expect(
            error.code == code, "\(error) in step \(step) \(name): \(String(describing: error.underlying))")
          guard !hasFailed else { throw error }
          hasFailed = true
        }
        disk.mend()
        if case .room = trouble { try await store?.limitPages(to: 1 << 30) }
        try expectAnInstant(of: course)
      }
      await close()
      if disk.mend() > 0 { hasFailed = true }
      try await expectTheEnd(of: course)
      return hasFailed
    }

    /// Runs a life with one power failure, which continues afterwards.
    ///
    /// Returns `false` if the power failure never occurred.
    func run(powerFailsAt call: Int, _ course: Course) async throws -> Bool {
      name = "when the power fails at call \(call)"
      disk.expect(.init(failure: .dark, call: call))
      do throws(SyncError) {
        try await live(busyTimeout: .milliseconds(1))
      } catch {
        #expect(
          error.code == .storeFailure,
          "\(error) in step \(step) \(name): \(String(describing: error.underlying))")
      }
      await close()
      guard disk.failures > 0 else { return false }
      var random = SplitMix64(seed: UInt64(call))
      try disk.restorePower(&random)
      // Confirmed edits of the app are in the store, even if the sync's writes are lost.
      try expectAnInstant(of: course, notBefore: step > 3 ? course.edits[1] : step > 0 ? course.edits[0] : 0)
      // The last sync may be lost, with the records that it brought for editing.
      step = step > 3 ? 4 : min(step, 1)
      try await live(busyTimeout: .seconds(5))
      await close()
      try await expectTheEnd(of: course)
      return true
    }

    // MARK: Checks

    /// Checks that the store equals the result of some transaction of a life without faults.
    private func expectAnInstant(of course: Course, notBefore first: Int = 0) throws {
      let contents = try StoreContents.read(path)
      let instant = course.contents.lastIndex(of: contents)
      #expect(instant != nil, "half a transaction was written in step \(step) \(name): \(contents)")
      #expect(instant ?? .max >= first, "what the app had written is gone \(name)")
    }

    private func expectTheEnd(of course: Course) async throws {
      let store = try await SQLiteStore.open(path: path)
      try await store.register(schema)
      for type in schema.entities.map(\.type) {
        let records = try await store.read { (snapshot) throws(SyncError) in
          try snapshot.records(Query(type))
        }
        let texts = Dictionary(uniqueKeysWithValues: records.map { ($0.id.key, $0.payload.text) })
        #expect(texts == recordsAtRemote[type], name)
        let pending = try await store.read { (snapshot) throws(SyncError) in try snapshot.outboxCount(type) }
        #expect(pending == 0, name)
      }
      let flaws = try await store.number(
        "SELECT count(*) FROM pragma_integrity_check() WHERE integrity_check <> 'ok'")
      #expect(flaws == 0, name)
      await store.close()
      #expect(recordsAtRemote == course.remote, name)
      let effects = remote.pushEffects.map { "\($0.id) \(String(describing: $0.base))" }
      #expect(Set(effects).count == effects.count, "an edit had two effects \(name)")
    }

    private var recordsAtRemote: [RecordType: [String: String]] {
      Dictionary(
        uniqueKeysWithValues: schema.entities.map { entity in
          let records = remote.records(of: entity.type).map { ($0.key, $0.payload.text) }
          return (entity.type, Dictionary(uniqueKeysWithValues: records))
        })
    }
  }
#endif
