#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport

  /// A remote, and the store that mirrors it.
  struct Mirror {
    let options: MirrorOptions
    let remote: MirrorRemote
    let service: Service
    /// Where progress is shown; `nil` for a watch, which has a log.
    let screen: ProgressBar?
    private var stop: CancellationSource { service.stop }

    /// The result of one poll.
    struct Look: Sendable {
      var result: SyncResult
      /// The number of the store's records of each type.
      var live: [RecordType: Int]
      /// The number of edits in the outbox.
      var waiting = 0

      /// Whether every collection was mirrored and the push was not rejected completely.
      ///
      /// A push counts as rejected if the server accepted none of its edits.
      var isComplete: Bool {
        let pushed = result.pushed
        return result.failures.isEmpty && (pushed.accepted > 0 || pushed.refused + pushed.postponed == 0)
      }
    }

    /// Writes a sentence for a person.
    func say(_ text: String) {
      if let screen { screen.say(text) } else { service.log.notice(text) }
    }

    private var observers: [any SyncObserver] {
      var observers = screen.map { [ScreenObserver($0)] + service.counters } ?? service.observers
      if options.isLogging {
        let (screen, log) = (screen, service.log)
        observers.append(
          LogObserver { line in
            if let screen { return screen.say(line) }
            var entry = LogEntry("event", ("text", .string(line)))
            entry.words = line
            log.write(entry)
          })
      }
      return observers
    }

    /// Updates the store to the server's current state.
    func look(into store: any LocalStore) async throws(SyncError) -> Look {
      guard let listed = try await entities() else {
        return Look(result: SyncResult(wasCancelled: true), live: [:])
      }
      let known = try await store.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities() }
      let mirrored = MirroredTypes(of: remote, listing: listed, beside: known)
      let refused = mirrored.refused.filter { refused in listed.contains { $0.type == refused.type } }
      var types = listed.map(\.type).filter { type in !refused.contains { $0.type == type } }
      if case .listed = remote.types {
        // A deleted collection is not listed, and its records in the store have to go.
        types += try await store.types(syncedFrom: remote.source.identity).filter { type in
          !listed.contains { $0.type == type }
        }
      }
      try await demandSameRemote(of: types, in: store)
      let engine = try await SyncEngine(
        schema: mirrored.schema(of: types, beside: known), store: store, source: remote.source, sink: sink,
        options: SyncOptions(pageSize: options.pageSize, leaseDuration: options.lease), observers: observers)
      service.engine = engine
      var request = SyncRequest(
        types: types, fullPull: options.listsEverything ? Set(types) : [],
        allowsMassDeletion: options.allowsMassDeletion, direction: sink == nil ? .pull : .both)
      request.versionsStartOver = options.listsEverything
      var result = try await engine.sync(request, token: stop)
      for (type, error) in refused { say("\(type) is not mirrored. \(error.message)") }
      result.failures += refused
      let reports = try await engine.status().filter { types.contains($0.type) }
      return Look(
        result: result,
        live: reports.live,
        waiting: reports.reduce(0) { $0 + $1.pending })
    }

    /// Refuses a store that mirrors another remote, as after a typing error in an address.
    private func demandSameRemote(of types: [RecordType], in store: any LocalStore) async throws(SyncError) {
      guard !options.allowsOtherRemote,
        let former = try await store.otherSource(of: types, than: remote.source.identity)
      else { return }
      throw SyncError(
        .invalidConfiguration, during: "mirroring into \(options.store)",
        """
        The store mirrors \(former), and this is \(remote.source.identity). Correct the address, or name \
        another store. With --allow-other-remote everything is listed again, and what this remote lacks is \
        removed from the store.
        """)
    }

    /// The sink for edits. A dry run must not reach the server.
    private var sink: (any RemoteRecordSink)? {
      options.pushes && !options.isDryRun ? remote.sink : nil
    }

    /// The types to mirror; `nil` if a stop was requested before they were known.
    private func entities() async throws(SyncError) -> [Entity]? {
      let list: @Sendable () async throws(SyncError) -> [RecordType]
      switch remote.types {
      case .declared(let declared):
        return try MirroredTypes.chosen(options.collections, among: declared)
      case .named(let names):
        var types: [Entity] = []
        for name in names where !types.contains(where: { $0.type == name }) { types.append(Entity(name)) }
        return types
      case .listed(let call): list = call
      }
      let policy = RetryPolicy()
      var generator = SystemRandomNumberGenerator()
      for failures in 1... {
        do throws(SyncError) {
          return try await stop.race(list)?.map { Entity($0) }
        } catch {
          guard
            let pause = policy.pause(afterFailures: failures, error: error, using: &generator)
          else { throw error }
          say("collections: \(error.code); attempt \(failures + 1) in \(pause.roughly).")
          guard await stop.pause(for: pause) else { return nil }
        }
      }
      return nil
    }
  }

  extension CancellationSource {
    /// Runs work unless a stop is requested first; returns `nil` then.
    func race<R: Sendable>(
      _ body: @escaping @Sendable () async throws(SyncError) -> R
    ) async throws(SyncError) -> R? {
      let outcome = await withTaskGroup(of: Result<R, SyncError>?.self) { group in
        group.addTask {
          do throws(SyncError) {
            return .success(try await body())
          } catch {
            return .failure(error)
          }
        }
        group.addTask {
          await self.waitUntilCancelled()
          return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
      }
      return try outcome?.get()
    }

    /// Waits; returns `false` if a stop was requested meanwhile.
    func pause(for duration: Duration) async -> Bool {
      // The sleep can only be cancelled, and the return value reports that.
      _ = try? await race { try? await Task.sleep(for: duration) }
      return !isCancelled
    }
  }
#endif
