public import SyncModels
public import SyncPorts
import Synchronization

/// A remote in memory: a small real server, with the habits and faults of others.
///
/// It keeps records by type and key, numbers their changes, keeps tombstones and a log, answers
/// page by page, and accepts edits. A ``Configuration`` defines the kind of remote. Scripts of
/// ``Behaviour``s and ``PushBehaviour``s define its faults. Tokens depend on the identity and on
/// the changes made: a second remote with the same changes accepts the first one's tokens.
public final class InMemoryRemote: RemoteRecordSource {
  struct State {
    var collections: [RecordType: RemoteCollection] = [:]
    var snapshots: [RecordType: [RemoteCollection]] = [:]
    var lastPages: [RecordType: RecordPage] = [:]
    var script = RemoteScript()
    var counters = RemoteLedger()
    var onRequest: (@Sendable (PageRequest) async -> Void)?
    var pushes = PushLedger()
    var onPush: (@Sendable ([OutgoingChange]) async -> Void)?
  }

  /// The identity of the remote.
  public let identity: String
  /// The kind of remote.
  public let configuration: Configuration
  let clock: any SyncPorts.Clock<Duration>
  let state = Mutex(State())
  let hanging = HangingRequests()

  /// Creates a remote without records.
  ///
  /// - Parameters:
  ///   - identity: The remote's name, which its tokens contain.
  ///   - configuration: The kind of remote.
  ///   - clock: The server's clock, for timestamps of changes and for the latency.
  public init(
    identity: String = "memory-remote", configuration: Configuration = .privateZone,
    clock: any SyncPorts.Clock<Duration> = ContinuousClock()
  ) {
    self.identity = identity
    self.configuration = configuration
    self.clock = clock
  }

  /// The capabilities that follow from the configuration.
  public var capabilities: SourceCapabilities { configuration.capabilities }

  /// The filter of the configuration.
  public func query(for type: RecordType) -> String { configuration.query }

  /// Receives each request after it was counted and before it is answered.
  ///
  /// A test delays a page here, or acts between two pages.
  public var onRequest: (@Sendable (PageRequest) async -> Void)? {
    get { state.withLock { $0.onRequest } }
    set { state.withLock { $0.onRequest = newValue } }
  }

  /// Returns the page that begins at a position, unless the script differs.
  public func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let (behaviours, hook) = state.withLock { state in
      let number = state.counters.receive(request)
      return (state.script.behaviours(for: request.entity.type, number), state.onRequest)
    }
    await hook?(request)
    let fetching = "fetching a page of \(request.entity.type)"
    try await spendLatency(during: fetching)
    for behaviour in behaviours {
      if case .hang = behaviour { try await hang(during: fetching) }
      if case .fail(let error) = behaviour { throw error }
    }
    let time = clock.timestamp
    return state.withLock { state in
      let page = answer(request, behaviours, at: time, &state)
      state.lastPages[request.entity.type] = page
      state.counters.serve(page, of: request.entity.type)
      return page
    }
  }

  /// Returns the current copies of some records.
  public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    guard configuration.supportsLookup else {
      throw SyncError(
        .invalidConfiguration, during: "looking up records of \(entity.type)", "\(identity) has no lookup.")
    }
    try await spendLatency(during: "looking up records of \(entity.type)")
    return state.withLock { state in
      state.counters.lookUp(ids, of: entity.type)
      guard let collection = state.collections[entity.type] else { return [] }
      return ids.compactMap { id in
        guard let document = collection.byKey[UTF8Key(id.key)] else { return nil }
        if document.isDeleted && !configuration.sendsTombstones { return nil }
        return document.change(for: entity)
      }
    }
  }

  private func answer(
    _ request: PageRequest, _ behaviours: [Behaviour], at time: Timestamp, _ state: inout State
  ) -> RecordPage {
    let type = request.entity.type
    let collection = state.collections[type, default: RemoteCollection(configuration)]
    var desk = PageReader(
      identity: identity, configuration: configuration, collection: collection,
      snapshots: state.snapshots[type] ?? [], time: configuration.rounded(time))
    for behaviour in behaviours {
      switch behaviour {
      case .shortPage(let limit): desk.limit = limit
      case .emptyPage: desk.limit = 0
      case .stuckToken: (desk.limit, desk.isStuck) = (0, true)
      case .laggingReplica(let changes): desk.lag(by: changes)
      case .repeatedPage:
        if let page = state.lastPages[type] { return page }
      case .fail, .hang: break
      }
    }
    defer { state.snapshots[type] = desk.snapshots }
    return desk.page(request)
  }

  func spendLatency(during operation: String) async throws(SyncError) {
    guard configuration.latency > .zero else { return }
    do {
      try await clock.pause(for: configuration.latency)
    } catch {
      throw SyncError(.cancelled, during: operation)
    }
  }

  func hang(during operation: String) async throws(SyncError) {
    guard await hanging.hang() else { throw SyncError(.cancelled, during: operation) }
  }
}
