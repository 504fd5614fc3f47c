import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization

/// A device with its store and engine, and the remote that it pushes to.
///
/// Several devices may share one remote.
struct PushWorld {
  let clock: ManualClock
  let remote: InMemoryRemote
  let store: InMemoryStore
  let recorder = EventRecorder()
  let engine: SyncEngine

  static let meters = Entity("meters")
  static let readings = Entity("readings", references: [.to("meters", by: "meter")])
  static let folders = Entity("folders", references: [.to("folders", by: "parent")])

  init(
    _ entities: [Entity] = [Self.meters, Self.readings, Self.folders], name: String = "a",
    beside other: PushWorld? = nil, options: SyncOptions = SyncOptions(), edits: EditOptions = EditOptions(),
    connectivity: (any ConnectivityMonitor)? = nil,
    configure: (inout InMemoryRemote.Configuration) -> Void = { _ in },
    sink: (@Sendable (InMemoryRemote) -> any RemoteRecordSink)? = nil
  ) async throws {
    let clock = other?.clock ?? ManualClock()
    self.clock = clock
    if let other {
      remote = other.remote
    } else {
      var configuration = InMemoryRemote.Configuration.privateZone
      configure(&configuration)
      remote = InMemoryRemote(configuration: configuration, clock: clock)
    }
    store = InMemoryStore(identity: name, leaseClock: { clock.timestamp })
    engine = try await SyncEngine(
      schema: SyncSchema(entities), store: store, source: remote, sink: sink?(remote) ?? remote,
      clock: clock, options: options, edits: edits, connectivity: connectivity, observers: [recorder],
      random: RepeatedNumber())
  }

  /// Sets members of a record, given as JSON, one second after the last change.
  func write(_ type: RecordType, _ key: String, _ members: [FieldName: String] = ["name": "1"]) async throws {
    clock.advance(by: .seconds(1))
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: type, key: key)) { (fields) throws(SyncError) in
        for (name, value) in members.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          fields[name] = Array(value.utf8)[...]
        }
      }
    }
  }

  func delete(_ type: RecordType, _ key: String) async throws {
    clock.advance(by: .seconds(1))
    try await engine.edits.delete(RecordID(type: type, key: key))
  }

  func outbox(_ type: RecordType = "meters") async throws -> [OutboxEntry] {
    try await engine.edits.pending(type)
  }

  /// A type's local records, as JSON by key.
  ///
  /// The library's own stamps are removed, unless they are requested.
  func here(_ type: RecordType = "meters", stamped: Bool = false) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: store.records(of: type).map { ($0.id.key, Self.text($0.payload, stamped)) })
  }

  /// A type's records at the remote, as JSON by key.
  ///
  /// The library's own stamps are removed, unless they are requested.
  func there(_ type: RecordType = "meters", stamped: Bool = false) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: remote.records(of: type).map { ($0.key, Self.text($0.payload, stamped)) })
  }

  private static func text(_ payload: Payload, _ stamped: Bool) -> String {
    String(decoding: (stamped ? payload : payload.withoutEditStamp).bytes, as: UTF8.self)
  }

  /// Whether no record had two effects on one base.
  var hasOneEffectEach: Bool {
    let effects = remote.pushEffects.map { "\($0.id) \($0.base?.description ?? "-")" }
    return Set(effects).count == effects.count
  }

  /// The keys of each sent batch, in order.
  var batches: [[String]] { remote.pushLog.map { $0.map(\.id.key) } }

  static func isCode(_ code: SyncError.Code) -> (any Error) -> Bool {
    { ($0 as? SyncError)?.code == code }
  }
}

/// A sink whose answers differ from those of the remote behind it.
struct OtherwiseSink: RemoteRecordSink {
  let base: InMemoryRemote
  var identity: String { base.identity }
  var keepsUnknownMembers: Bool { base.keepsUnknownMembers }
  let change: @Sendable (_ push: Int, [PushOutcome]) throws(SyncError) -> [PushOutcome]

  func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let outcomes = try await base.push(changes, entities: entities)
    return try change(base.pushCounters.requests, outcomes)
  }
}

/// A remote that stores accepted records in another form.
struct RewritingSink: RemoteRecordSink {
  let base: InMemoryRemote
  var keepsUnknownMembers = false
  let rewrite: @Sendable (inout OutgoingChange) -> Void
  var identity: String { base.identity }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    var rewritten = changes
    for index in rewritten.indices { rewrite(&rewritten[index]) }
    return try await base.push(rewritten, entities: entities)
  }
}
