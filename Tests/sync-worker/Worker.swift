#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import CanonicalSyncToolSupport
  import CurlAdapters
  import Foundation
  import HTTPAdapters
  import KintoAdapters
  import InMemoryAdapters

  #if Postgres
    import PostgresAdapters
  #endif

  /// A process's engine on the shared store, and its work.
  struct Worker {
    private let engine: SyncEngine
    private let name: String
    private let isDatabase: Bool
    private let stop: CancellationSource
    private var random: SplitMix64
    private var number = 0

    init(_ orders: Orders, stop: CancellationSource) async throws(SyncError) {
      var options = KintoSource.Options()
      options.allowsPlainHTTP = true
      // The server identifies the client by this name.
      let source = try KintoSource(
        server: orders.server, bucket: "b", credentials: .basic(user: orders.name, password: "-"),
        options: options, transport: Self.transport())
      let store = try await Self.open(orders.store)
      engine = try await SyncEngine(
        schema: SyncSchema(Entity("items")), store: store, source: source, sink: KintoSink(source),
        // Short, so that a short stop loses the lease.
        options: SyncOptions(
          pageSize: 10, retry: RetryPolicy(attempts: 3, base: .milliseconds(10)),
          leaseDuration: .milliseconds(300)),
        edits: EditOptions(policy: FieldwiseLastWriteWins()),
        // All workers are of one account, although each has a name of its own.
        account: "crew")
      name = orders.name
      isDatabase = Self.isDatabase(orders.store)
      self.stop = stop
      random = SplitMix64(seed: orders.seed)
    }

    private static func transport() -> any HTTPTransport {
      #if os(Linux)
        CurlTransport()
      #else
        URLSessionTransport()
      #endif
    }

    /// Opens the store, also if its server is away for a while.
    private static func open(_ place: String) async throws(SyncError) -> any LocalStore {
      var attempts = 0
      while true {
        do throws(SyncError) {
          return try await store(at: place)
        } catch {
          attempts += 1
          let mayReturn = error.code == .storeFailure || error.code == .storeBusy
          guard isDatabase(place), mayReturn, attempts < 300 else { throw error }
          _ = try? await Task.sleep(for: .milliseconds(200))
        }
      }
    }

    /// What an address begins with if its store is to be one of a pool.
    private static let pooled = "pool:"

    private static func isDatabase(_ place: String) -> Bool {
      place.hasPrefix(pooled) || OpenedStore.isDatabase(place)
    }

    private static func store(at place: String) async throws(SyncError) -> any LocalStore {
      #if Postgres
        if place.hasPrefix(pooled) {
          let address = try PostgresAddress(String(place.dropFirst(pooled.count)))
          let pool = try PostgresPool(address, configuration: .init(connectionCount: 4))
          let store = try pool.store(inSchema: address.schema)
          // It opens itself at its first use.
          try await store.read { (snapshot) throws(SyncError) in _ = try snapshot.storeIdentity() }
          return store
        }
      #endif
      return try await OpenedStore.open(place).store
    }

    /// Edits and syncs in turn until it is asked to stop.
    ///
    /// It ends with its test too, whatever ended that.
    func editAndSync() async throws(SyncError) {
      var worker = self
      let parent = getppid()
      while !stop.isCancelled, getppid() == parent {
        try await worker.edit()
        guard await !worker.sync() else { continue }
        // If another process syncs, or the store is unavailable, this one tries again later.
        let pause = Duration.milliseconds(3 + worker.random.number(below: 20))
        _ = try? await Task.sleep(for: pause)
      }
    }

    /// Syncs alone, until the outbox is empty and no change arrives.
    func settle() async throws(SyncError) {
      for _ in 0..<10 {
        let result = try await syncOnceFree()
        if let failure = result.failures.first { throw failure.error }
        let waiting = try await engine.status().reduce(0) { $0 + $1.pending }
        if waiting == 0, result.total.fetched == result.total.unchanged { return }
      }
      throw SyncError(.inconsistentData, during: "settling", "Ten syncs were not enough.")
    }

    /// Syncs once the lease of a killed process is over, which ends at once only with a connection.
    private func syncOnceFree() async throws(SyncError) -> SyncResult {
      var attempts = 0
      while true {
        do throws(SyncError) {
          return try await engine.sync()
        } catch {
          attempts += 1
          guard error.code == .syncAlreadyInProgress, attempts < 50 else { throw error }
          _ = try? await Task.sleep(for: .milliseconds(100))
        }
      }
    }

    /// Syncs once; `false` if it could not.
    private func sync() async -> Bool {
      do throws(SyncError) {
        let result = try await engine.sync(token: stop)
        for failure in result.failures { say("failed", "\(failure.error.code)") }
        return result.failures.isEmpty
      } catch {
        say("failed", "\(error.code)")
        return false
      }
    }

    // MARK: Edits

    /// An edit: a unique member of a shared or a new record, or a deletion.
    private struct Edit {
      var key: String
      var member: String?
      var isOfNewRecord = false

      var spelling: String { member.map { "\(key).\($0)" } ?? key }
    }

    /// Makes some edits in one transaction, or none at random.
    private mutating func edit() async throws(SyncError) {
      var edits: [Edit] = []
      for _ in 0..<random.number(below: 4) {
        number += 1
        let member = "\(name)x\(number)"
        switch random.number(below: 8) {
        case 0: edits.append(Edit(key: "d\(random.number(below: 200))"))
        case 1: edits.append(Edit(key: "n\(member)", member: member, isOfNewRecord: true))
        default: edits.append(Edit(key: "k\(random.number(below: 40))", member: member))
        }
      }
      guard !edits.isEmpty else { return }
      for edit in edits { say("making", edit.spelling) }
      do throws(SyncError) {
        let done = try await engine.edits.perform { [edits] (batch) throws(SyncError) in
          var done: [String] = []
          for edit in edits where try Self.make(edit, in: &batch) { done.append(edit.spelling) }
          return done
        }
        for edit in edits { say(done.contains(edit.spelling) ? "made" : "unmade", edit.spelling) }
      } catch {
        // A database that has been away for long leaves it open whether the edits were stored.
        if error.code == .storeFailure, isDatabase { return }
        guard error.code == .storeBusy else { throw error }
        for edit in edits { say("unmade", edit.spelling) }
      }
    }

    /// Makes one edit; `false` if its record does not exist.
    private static func make(_ edit: Edit, in batch: inout EditBatch) throws(SyncError) -> Bool {
      let id = RecordID(type: "items", key: edit.key)
      let isThere = try batch.record(id) != nil
      guard edit.isOfNewRecord || isThere else { return false }
      if let member = edit.member {
        try batch.set(id) { $0[FieldName(member)] = Array("1".utf8)[...] }
      } else {
        try batch.delete(id)
      }
      return true
    }

    /// Prints a word and its subject in one write, which a kill cannot split.
    private func say(_ word: String, _ about: String) {
      StandardStream.output.line("\(word) \(about)")
      StandardStream.output.flush()
    }
  }
#endif
