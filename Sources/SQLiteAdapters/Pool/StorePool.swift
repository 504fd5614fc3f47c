#if SQLite
  public import SyncModels
  import SyncPorts
  import Synchronization

  /// A pool of many small stores that share one budget of threads and file descriptors.
  ///
  /// A server with a store for each of a thousand tenants opens them as they are needed:
  ///
  /// ```swift
  /// let pool = try StorePool { store in try await store.register(schema) }
  /// let games = try await pool.withStore(at: "tenants/\(tenant).db") { store in
  ///   try await store.read { snapshot throws(SyncError) in try snapshot.records(Query("games")) }
  /// }
  /// ```
  ///
  /// A store that is no longer lent stays open until its room is needed; the least recently used
  /// one is closed first. A request is admitted if the budget has room for a whole store, so a lent
  /// store never lacks a connection. Otherwise it waits, in the order of arrival. A request for a
  /// store that is lent already shares it, and waits only if the store is to be closed.
  public final class StorePool: Sendable {
    // Swift's strings are equal in all Unicode forms of a name; files are not.
    private typealias Path = [UInt8]
    private typealias Machine = PoolMachine<Path, SQLiteStore>

    private struct State {
      var machine: Machine
      /// The callers that wait for the end of a store, or of all stores.
      var closers: [(path: Path?, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// A store that a task has from a pool.
    private struct Lend: Hashable {
      var pool: ObjectIdentifier
      var path: Path
    }

    /// The stores that the task has.
    @TaskLocal private static var lends: Set<Lend> = []

    private let configuration: Configuration
    private let prepare: @Sendable (SQLiteStore) async throws -> Void
    private let state: WaitQueue<State, Machine.Answer>
    private let lastRequest = Atomic(0)

    /// Creates a pool, which opens no store yet.
    ///
    /// - Parameters:
    ///   - configuration: The budget, and the options of each store.
    ///   - prepare: Runs after each opening of a store, before it is lent, to register the app's
    ///     schema for example. If it throws, the store is closed, and all who wait for it get the
    ///     error.
    /// - Throws: `invalidConfiguration` if the budget is too small for one store.
    public init(
      configuration: Configuration = .init(),
      prepare: @escaping @Sendable (SQLiteStore) async throws -> Void = { _ in }
    ) throws(SyncError) {
      self.configuration = configuration
      self.prepare = prepare
      let store = configuration.store
      guard configuration.descriptors >= store.descriptors, configuration.threads >= store.threads else {
        throw SyncError(
          .invalidConfiguration, during: "creating a pool of stores",
          """
          One store needs up to \(store.descriptors) file descriptors and \(store.threads) threads, and the pool has \
          \(configuration.descriptors) and \(configuration.threads): raise the limit of open files (ulimit -n) or \
          the pool's budget, or lower readerCount.
          """)
      }
      state = WaitQueue(
        State(
          machine: PoolMachine(
            mostOpen: configuration.descriptors / store.descriptors,
            mostBusy: configuration.threads / store.threads)))
    }

    /// Runs a body with the store at a path.
    ///
    /// The store is opened if it is not open yet. Bodies with the same path share one store;
    /// symbolic links are resolved. The store must not be used after the body, because the pool may
    /// close it. The body must not close the store.
    ///
    /// A body and its child tasks may ask for its own store again, but a detached task must not
    /// while the body waits for it: ``close(at:)`` may have begun. If many bodies ask for another
    /// one, all may wait for each other: take one store at a time.
    ///
    /// - Throws: What the body throws. Before the body: `cancelled` if the task was cancelled while
    ///   it waited; `storeFailure` after ``close()``; the errors of the store's opening and of the
    ///   pool's preparation. The pool stays usable after all of these, and the next request for the
    ///   path opens the store again.
    /// - Complexity: O(*n*) in the open stores and the paths that wait, beside the opening.
    public func withStore<R>(
      at path: String, _ body: (SQLiteStore) async throws -> R
    ) async throws -> R {
      let resolved = try resolve(at: path)
      let store = try await take(resolved)
      do {
        let lends = Self.lends.union([Lend(pool: ObjectIdentifier(self), path: resolved.key)])
        let result = try await Self.$lends.withValue(lends) { try await body(store) }
        await giveBack(resolved)
        return result
      } catch {
        await giveBack(resolved)
        throw error
      }
    }

    /// Closes the least recently used stores of those that are open and not lent.
    ///
    /// Up to eight are closed at once, by threads beside the budget.
    ///
    /// - Parameter count: The number of such stores that stay open.
    public func closeIdle(leaving count: Int = 0) async {
      await close(state.update { state, _ in state.machine.takeIdle(leaving: count) })
    }

    /// Closes the store at a path, before its files are moved, replaced or deleted.
    ///
    /// It returns after the store's lends have ended and the store is closed. A path without an
    /// open store needs nothing. Requests meanwhile wait, and open the store again. A body that
    /// closes its own store waits for itself, forever.
    ///
    /// - Throws: `invalidConfiguration` for an empty path or one with a NUL in it.
    public func close(at path: String) async throws(SyncError) {
      let path = try resolve(at: path).key
      var idle: SQLiteStore?
      await waitForEnd(of: path) { machine in
        idle = machine.condemn(path)
        return idle == nil && machine.has(path)
      }
      if let idle { await close([(path, idle)]) }
    }

    /// Refuses further requests, waits for the present lends, and closes all stores.
    ///
    /// Requests that wait for their turn fail with `storeFailure`. A body that calls it waits for
    /// itself, forever. A second call waits as well.
    public func close() async {
      let idle = state.update { state, waiters in
        deliver(state.machine.refuse(Self.closedError), to: &waiters)
        return state.machine.takeIdle()
      }
      await close(idle)
      await waitForEnd(of: nil) { !$0.isEmpty }
    }

    /// The present use of the pool.
    public var occupancy: Occupancy {
      state.update { state, _ in
        Occupancy(
          open: state.machine.open, busy: state.machine.busy, waiting: state.machine.waiting)
      }
    }

    // MARK: Lending

    /// A path as the pool compares it, and as it is opened.
    private struct ResolvedPath {
      var key: Path
      var path: String
    }

    private func resolve(at path: String) throws(SyncError) -> ResolvedPath {
      let path = try StoreOpening(
        path: path, configuration: configuration.store, migrations: Migration.all
      ).path
      return ResolvedPath(key: Path(path.utf8), path: path)
    }

    private func take(_ resolved: ResolvedPath) async throws -> SQLiteStore {
      let key = resolved.key
      let isRepeated = Self.lends.contains(Lend(pool: ObjectIdentifier(self), path: key))
      let request = lastRequest.add(1, ordering: .relaxed).newValue
      let answer = await state.wait(as: request) { state in
        state.machine.ask(key, request: request, isRepeated: isRepeated, refusal: Self.closedError)
      } leave: { state in
        state.machine.leave(key, request: request)
      }
      switch answer {
      case .use(let store): return store
      case .fail(let error): throw error
      case .open(let idle):
        if let idle { await close([idle]) }
        return try await open(resolved)
      case nil:
        // Those behind it may have waited for this request alone.
        change { machine in machine.serve() }
        throw Self.cancelledError
      }
    }

    private func open(_ resolved: ResolvedPath) async throws -> SQLiteStore {
      do {
        if Task.isCancelled { throw Self.cancelledError }
        let store = try await SQLiteStore.open(path: resolved.path, configuration: configuration.store)
        do {
          try await prepare(store)
        } catch {
          await store.close()
          throw error
        }
        change { machine in machine.opened(resolved.key, store) }
        return store
      } catch {
        let isCancelled = Task.isCancelled
        end(resolved.key) { machine in machine.failed(resolved.key, error, isCancelled: isCancelled) }
        throw error
      }
    }

    private func giveBack(_ resolved: ResolvedPath) async {
      let store = state.update { state, waiters in
        let (store, answers) = state.machine.giveBack(resolved.key)
        deliver(answers, to: &waiters)
        return store
      }
      if let store { await close([(resolved.key, store)]) }
    }

    private func change(_ body: (inout Machine) -> Machine.Answers) {
      state.update { state, waiters in deliver(body(&state.machine), to: &waiters) }
    }

    private func deliver(
      _ answers: Machine.Answers, to waiters: inout WaitQueue<State, Machine.Answer>.Waiters
    ) {
      // A request that is no longer in the machine gets no answer, so each of them waits.
      for (request, answer) in answers { _ = waiters.deliver(answer, to: request) }
    }

    // MARK: Closing

    /// Closes stores that the machine has handed out.
    ///
    /// Some are closed at a time, because each waits for the disk.
    private func close(_ stores: [(key: Path, store: SQLiteStore)]) async {
      await withTaskGroup(of: Void.self) { tasks in
        for (place, (key, store)) in stores.enumerated() {
          if place >= 8 { await tasks.next() }
          tasks.addTask { [self] in
            await store.close()
            end(key) { machine in machine.closed(key) }
          }
        }
      }
    }

    /// Waits until a store, or all stores, have been closed. A cancelled task waits as well.
    ///
    /// - Parameter isNeeded: Begins the closing, and tells whether there is an end to wait for.
    private func waitForEnd(of path: Path?, if isNeeded: (inout Machine) -> Bool) async {
      await withCheckedContinuation { continuation in
        let isWaiting = state.update { state, _ in
          guard isNeeded(&state.machine) else { return false }
          state.closers.append((path, continuation))
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    }

    /// Notes the end of a store.
    ///
    /// Callers wait for the end of this store. A request may open the next one at its path in the
    /// same step.
    private func end(_ key: Path, _ body: (inout Machine) -> Machine.Answers) {
      let closers = state.update { state, waiters in
        deliver(body(&state.machine), to: &waiters)
        let isLast = state.machine.isEmpty
        func isOver(_ path: Path?) -> Bool { path.map { $0 == key } ?? isLast }
        defer { state.closers.removeAll { isOver($0.path) } }
        return state.closers.filter { isOver($0.path) }.map(\.continuation)
      }
      for continuation in closers { continuation.resume() }
    }

    private static var closedError: SyncError {
      SyncError(.storeFailure, during: "waiting for a store", "The pool of stores has been closed.")
    }

    private static var cancelledError: SyncError {
      SyncError(.cancelled, during: "waiting for a store")
    }
  }
#endif
