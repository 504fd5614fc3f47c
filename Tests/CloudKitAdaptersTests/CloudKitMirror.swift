#if CloudKit && os(Linux)
  @testable import CloudKitAdapters
  import CanonicalSync
  import CanonicalSyncTestServers
  import HTTPAdapters
  import InMemoryAdapters
  import SyncJSON
  import Synchronization
  import Testing

  /// A store in memory that mirrors a stand-in service.
  struct CloudKitMirror: Sendable {
    let bench: CloudKitBench
    let store = InMemoryStore()
    let engine: SyncEngine
    let source: CloudKitSource

    init(
      _ bench: CloudKitBench, _ entities: [Entity] = [Entity("items")], pageSize: Int = 400,
      transport: (any HTTPTransport)? = nil, pushes: Bool = false, retry: RetryPolicy = RetryPolicy(),
      observers: [any SyncObserver] = [],
      wrap: (CloudKitSource) -> any RemoteRecordSource = { $0 }
    ) async throws {
      self.bench = bench
      source = try CloudKitSource(
        bench.database, access: bench.access, types: bench.types, transport: transport ?? bench.service,
        clock: bench.clock)
      engine = try await SyncEngine(
        schema: SyncSchema(entities), store: store, source: wrap(source),
        sink: pushes ? CloudKitSink(source) : nil, clock: bench.clock,
        options: SyncOptions(
          pageSize: pageSize, retry: retry, leaseDuration: .seconds(360_000), massDeletionRecords: 1_000_000),
        observers: observers)
    }

    /// Syncs while the service's records change, and once more when its indexes have caught up.
    func sync(through busy: BusyTransport) async throws {
      while !busy.isDone {
        _ = try await engine.sync()
        bench.clock.advance(by: .seconds(5))
      }
      bench.clock.advance(by: .seconds(700))
      let last = try await engine.sync()
      #expect(last.failures.isEmpty && last.refusedSweeps.isEmpty)
    }

    /// The store's payloads of a type by key.
    func payloads(_ type: RecordType) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: store.records(of: type).map {
          ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
        })
    }

    /// The payloads that the service's records of a type have to be.
    func wanted(_ type: RecordType) throws -> [String: String] {
      let recordType = try #require(bench.types[type]).recordType
      return try bench.service.rows(recordType, in: bench.place.database, zone: bench.place.zone).mapValues {
        row in
        let record = try RecordDictionary(Array(row.json(nil).utf8)[...])
        return String(decoding: RecordPayload.payload(of: record), as: UTF8.self)
      }
    }

    /// Checks that the store equals the service.
    func expectEqual(_ type: RecordType, _ comment: Comment? = nil) throws {
      let (mine, theirs) = (payloads(type), try wanted(type))
      let differing = Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] }
      #expect(differing == [], comment)
    }
  }
#endif
