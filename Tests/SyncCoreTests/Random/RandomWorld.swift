import CanonicalSync
import InMemoryAdapters
import Synchronization

/// A remote that others edit all the time, a connection that fails, and a caller who gives up now and then: all from one seed.
final class RandomWorld: Sendable {
  struct State {
    var random: SplitMix64
    var isCalm = false
    var poisoned: Set<RecordID> = []
    var token: (any CancellationToken)?
  }
  let clock = ManualClock()
  let remote: InMemoryRemote
  let store: InMemoryStore
  let source: UnreliableSource
  let graph: EntityGraph
  let audit: Audit
  let options: SyncOptions
  private let state: Mutex<State>
  private let editing = Mutex(())

  init(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let clock = clock
    func visibility() -> Entity.Visibility { random.once(in: 3) ? .wholeEntity : .perPage }
    graph = try EntityGraph(
      Entity(
        "leagues", schemaVersionField: "schema", references: [.to("leagues", by: "parent")],
        visibility: visibility()),
      Entity(
        "teams", references: [.to("leagues", by: "league"), .to("games", by: "last", ordered: false)],
        visibility: visibility()),
      Entity(
        "games", references: [.to("teams", by: "home"), .to("teams", by: "away")], visibility: visibility()))
    let configurations: [InMemoryRemote.Configuration] = [
      .privateZone, .timestampedCollection(), .publicDatabase(), .fullOnly,
    ]
    var configuration = configurations[Int(seed % 4)]
    if random.once(in: 3) { configuration.hasResumablePages.toggle() }
    if random.once(in: 3) { configuration.supportsLookup = true }
    if random.once(in: 3) { configuration.maximumPageSize = 3 }
    remote = InMemoryRemote(configuration: configuration, clock: clock)
    store = InMemoryStore(leaseClock: { clock.timestamp })
    source = UnreliableSource(remote, random: SplitMix64(seed: random.next()))
    audit = Audit(graph, store)
    options = SyncOptions(
      pageSize: Int.random(in: 1...7, using: &random), pagesAhead: Int.random(in: 0...2, using: &random),
      typesAtOnce: seed % 5 == 0 ? 3 : 1, retry: RetryPolicy(attempts: 3))
    state = Mutex(State(random: random))
    remote.onRequest = { [weak self] _ in self?.disturb() }
  }

  var poisoned: Set<RecordID> { state.withLock { $0.poisoned } }

  /// Whether something happens that happens once in so many times.
  func once(in times: Int) -> Bool { state.withLock { $0.random.once(in: times) } }

  func number(in range: ClosedRange<Int>) -> Int {
    state.withLock { Int.random(in: range, using: &$0.random) }
  }

  /// Ends all faults and edits.
  func calmDown() {
    state.withLock { $0.isCalm = true }
    source.calmDown()
  }

  /// Syncs once, through a store that is looked over after each commit.
  func sync(_ request: SyncRequest = SyncRequest()) async throws(SyncError) -> SyncResult {
    let audit = audit
    let engine = try await SyncEngine(
      graph: graph, store: FaultyStore(store) { audit.lookForDanglingReferences() }, source: source,
      clock: clock, options: options, random: { 0 })
    let token: (any CancellationToken) = once(in: 2) ? CancellationSource() : FlagToken()
    state.withLock { $0.token = token }
    return try await engine.sync(request, token: token)
  }

  /// What others do while a page is being fetched.
  private func disturb() {
    let (isCalm, token) = state.withLock { ($0.isCalm, $0.token) }
    if isCalm { return }
    if once(in: 3) { edit() }
    guard once(in: 25) else { return }
    (token as? CancellationSource)?.cancel()
    (token as? FlagToken)?.isCancelled = true
  }

  /// One edit at the remote; where several types are fetched at once, one edit after another.
  func edit() {
    editing.withLock { _ in editAlone() }
  }

  private func editAlone() {
    let configuration = remote.configuration
    let type = ["leagues", "teams", "games", "games"][number(in: 0...3)]
    let key = "\(type.prefix(1))\(number(in: 1...12))"
    let id = RecordID(type: RecordType(type), key: key)
    let roll = number(in: 1...60)
    state.withLock { state in
      if roll == 1, configuration.sendsTombstones, configuration.hasResumablePages {
        state.poisoned = state.poisoned.filter { $0.type != id.type }
      }
      if roll > 3 { state.poisoned.remove(id) }
      if (20...22).contains(roll) { state.poisoned.insert(id) }
    }
    switch roll {
    // A remote that is asked for everything cannot say that it was wiped since.
    case 1 where configuration.sendsTombstones && configuration.hasResumablePages: remote.wipe(id.type)
    case 1: break
    case 2: remote.expireTokens(of: id.type)
    case 3: remote.expirePageTokens(of: id.type)
    case 4...18: remote.delete(id.type, key)
    case 20...22: remote.putPoison(id.type, key, Array("{\(roll)".utf8))
    default: remote.upsert(id.type, key, payload(of: id))
    }
  }

  private func payload(of id: RecordID) -> String {
    let name = number(in: 1...3)
    func reference(_ prefix: String) -> String {
      // The thirteenth of each never exists.
      once(in: 8) ? "null" : "\"\(prefix)\(number(in: 1...(once(in: 10) ? 13 : 12)))\""
    }
    switch id.type.rawValue {
    case "leagues":
      let schema = once(in: 8) ? 2 : 1
      return #"{"id":"\#(id.key)","name":\#(name),"parent":\#(reference("l")),"schema":\#(schema)}"#
    case "teams":
      return #"{"id":"\#(id.key)","name":\#(name),"league":\#(reference("l")),"last":\#(reference("g"))}"#
    default:
      return #"{"id":"\#(id.key)","name":\#(name),"home":\#(reference("t")),"away":\#(reference("t"))}"#
    }
  }
}
