#if SQLite
  import CanonicalSync
  import HTTPAdapters
  import SQLiteAdapters
  import ToolSupport

  /// A bucket, and the store that mirrors it.
  struct Mirror {
    let options: MirrorOptions
    let screen: ProgressBar
    let stop: CancellationSource
    private let source: KintoSource

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

    init(
      _ options: MirrorOptions, screen: ProgressBar, stop: CancellationSource
    ) throws(SyncError) {
      self.options = options
      self.screen = screen
      self.stop = stop
      var settings = KintoSource.Options()
      settings.allowsPlainHTTP = options.allowsPlainHTTP
      // A page must fit into a small machine's memory however often it is retried; a smaller page
      // size makes room.
      settings.bodyLimit = 32 << 20
      settings.missingCollectionsAreEmpty = options.collections.isEmpty
      source = try KintoSource(
        server: options.server, bucket: options.bucket, credentials: options.credentials, options: settings,
        transport: Self.transport(options), onAlert: { screen.say("The server reports: \($0)") })
    }

    /// Updates the store to the server's current state.
    func look(into store: SQLiteStore) async throws(SyncError) -> Look {
      guard let listed = try await collections() else {
        return Look(result: SyncResult(wasCancelled: true), live: [:])
      }
      let known = try await store.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities() }
      let named = DeclarableTypes(listed, beside: known.map(\.type))
      var types = named.usable
      if options.collections.isEmpty {
        // A deleted collection is not listed, and its records in the store have to go.
        types += try await store.types(syncedFrom: source.identity).filter { !listed.contains($0) }
      }
      // An app that shares the store may have declared fields and references; they stay.
      let added = types.filter { type in !known.contains { $0.type == type } }
      var observers: [any SyncObserver] = [ScreenObserver(screen)]
      if options.isLogging {
        let screen = screen
        observers.append(LogObserver { screen.say($0) })
      }
      let engine = try await SyncEngine(
        schema: SyncSchema(known + added.map { Entity($0) }), store: store, source: source, sink: sink,
        options: SyncOptions(pageSize: options.pageSize), observers: observers)
      var result = try await engine.sync(
        SyncRequest(
          types: types, fullPull: options.listsEverything ? Set(types) : [],
          allowsMassDeletion: options.allowsMassDeletion, direction: sink == nil ? .pull : .both),
        token: stop)
      for (type, error) in named.refused { screen.say("\(type) is not mirrored. \(error.message)") }
      result.failures += named.refused
      let reports = try await engine.status().filter { types.contains($0.type) }
      return Look(
        result: result,
        live: reports.live,
        waiting: reports.reduce(0) { $0 + $1.pending })
    }

    /// The sink for edits. A dry run must not reach the server.
    private var sink: KintoSink? {
      options.pushes && !options.isDryRun ? KintoSink(source) : nil
    }

    /// The collections to mirror; `nil` if a stop was requested before they were known.
    private func collections() async throws(SyncError) -> [RecordType]? {
      guard options.collections.isEmpty else {
        var types: [RecordType] = []
        for name in options.collections where !types.contains(RecordType(name)) {
          types.append(RecordType(name))
        }
        return types
      }
      let policy = RetryPolicy()
      for failures in 1... {
        do throws(SyncError) {
          let source = source
          return try await stop.race { () async throws(SyncError) in try await source.collections() }
        } catch {
          guard
            let pause = policy.pause(
              afterFailures: failures, error: error, random: .random(in: .min ... .max))
          else { throw error }
          screen.say("collections: \(error.code); attempt \(failures + 1) in \(pause).")
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
