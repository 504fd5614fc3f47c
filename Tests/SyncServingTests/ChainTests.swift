import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncAdapters
import SyncServing
import Synchronization
import Testing

/// Devices, gateways and an origin, each in step with the one above it: worlds that a seed decides.
///
/// Some devices keep a part of the records, by a filter of their own, because they may not see more, or
/// both. Filters and rights change while the devices run: between syncs, within one, and at the same time.
@Suite("Chains of gateways", .timeLimit(.minutes(60)))
struct ChainTests {
  /// 10,000 worlds in a soak run.
  private static let seeds = (0..<4).map { part in
    let count = Seeds.isSoak ? 2500 : 25
    return part * count..<(part + 1) * count
  }

  @Test(arguments: seeds)
  func convergeWithoutAnEcho(_ seeds: Range<Int>) async throws {
    for seed in seeds {
      var chain = try await Chain(seed: UInt64(seed))
      try await chain.live()
      try await chain.calmDown()
    }
  }
}

/// A world: an origin, gateways one above the other, and devices at any of them.
private struct Chain {
  private static let records = KintoService.records

  /// The type; a device that may write nothing says so.
  private static func schema(_ node: Node) throws -> SyncSchema {
    try SyncSchema(
      Entity(
        "games", indexes: ["seats"], immutable: ["made"], access: node.isLimited ? .readOnly : .readWrite))
  }

  /// A store that is in step with the service above it; a gateway is served itself.
  private struct Node {
    let store: InMemoryStore
    let above: Int?
    let isServed: Bool
    /// Whether it keeps a part of what it may see, and whether it may see a part only.
    let isFiltered, isLimited: Bool
    var engine: SyncEngine?
    var service: KintoService?
  }

  let seed: UInt64
  private let clock = ManualClock()
  private let weather: Weather
  private let views = Views()
  private var random: SeededNumbers
  private var nodes: [Node] = []
  private var edits = 0

  init(seed: UInt64) async throws {
    self.seed = seed
    random = SeededNumbers(seed: seed)
    weather = Weather(seed: seed, share: seed % 2 == 0 ? 0 : 0.15)
    let gateways = Int.random(in: 1...3, using: &random)
    let devices = Int.random(in: 1...3, using: &random)
    // Apart, so that worlds without views are as they would be.
    var choices = SeededNumbers(seed: seed ^ 0x5eed)
    for place in 0...(gateways + devices) {
      let isServed = place <= gateways
      let view = isServed ? 0 : Int.random(in: 0..<5, using: &choices)
      let above = place == 0 ? nil : isServed ? place - 1 : Int.random(in: 0...gateways, using: &random)
      nodes.append(
        Node(
          store: InMemoryStore(identity: "store \(place)"), above: above, isServed: isServed,
          isFiltered: view == 1 || view == 2, isLimited: view == 2 || view == 3))
      if nodes[place].isLimited { views.limit(place) }
      try await start(place)
    }
  }

  /// Starts a node, or starts it again over its store.
  private mutating func start(_ place: Int) async throws {
    let node = nodes[place]
    let schema = try Self.schema(node)
    if let above = node.above {
      let source = try WeatheredTransport(
        service: try #require(nodes[above].service), weather: weather, views: views, place: place
      ).source(clock: clock)
      // A failed request waits for the next sync.
      let engine = try await SyncEngine(
        schema: schema, store: node.store, source: source, sink: KintoSink(source), clock: clock,
        options: SyncOptions(pageSize: 3, retry: RetryPolicy(attempts: 1)))
      nodes[place].engine = engine
      try views.start(place, engine)
    }
    guard node.isServed else { return }
    let mode = nodes[place].engine.map { KintoService.Mode.gateway($0.edits) } ?? .origin
    let views = views
    nodes[place].service = try await KintoService(
      node.store, schema: schema, bucket: "b", mode: mode, clock: clock
    ) { request in
      guard let name = request.headers["x-place"], let place = Int(name), let right = views.right(of: place)
      else { return .owner() }
      let scope = right == 0 ? ServiceCaller.Scope.everything : .matching(Views.condition(right))
      return ServiceCaller(name, reads: { _ in scope }, writes: { _ in .nothing })
    }
    for (below, other) in nodes.enumerated() where other.above == place { try await start(below) }
  }

  mutating func live() async throws {
    for _ in 0..<Int.random(in: 20...60, using: &random) {
      clock.advance(by: .milliseconds(Int.random(in: 1...9000, using: &random)))
      let place = Int.random(in: 0..<nodes.count, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: try await start(place)
      case 1, 2: try change(place)
      case 3..<9: await edit(place)
      // What meets a fault is left to a later sync.
      default: _ = try? await nodes[place].engine?.sync()
      }
    }
  }

  /// Changes what a device may see, or keeps, or both: at once, or at one of its next requests; and
  /// perhaps back again soon.
  private mutating func change(_ place: Int) throws {
    let node = nodes[place]
    let former = views[place]
    var view = former
    if node.isFiltered, Int.random(in: 0..<4, using: &random) > 0 { view.filter = bound() }
    if node.isLimited, Int.random(in: 0..<4, using: &random) > 0 { view.right = bound() }
    var steps = [Views.Step(view: view, requests: Int.random(in: 0...5, using: &random))]
    if Bool.random(using: &random) {
      steps.append(Views.Step(view: former, requests: Int.random(in: 1...3, using: &random)))
    }
    try views.change(place, by: steps)
  }

  /// A least number of seats: none in one of four cases.
  private mutating func bound() -> Int {
    Int.random(in: 0..<4, using: &random) == 0 ? 0 : Int.random(in: 0...edits + 1, using: &random)
  }

  /// Edits as the app of a node, or as another client of its service.
  private mutating func edit(_ place: Int) async {
    guard !nodes[place].isLimited else { return }
    edits += 1
    let key = "k\(Int.random(in: 0..<5, using: &random))"
    let isDeletion = Int.random(in: 0..<4, using: &random) == 0
    let members = #""seats":\#(edits),"made":\#(edits)"#
    if let service = nodes[place].service, Bool.random(using: &random) || place == 0 {
      let method = isDeletion ? "DELETE" : Bool.random(using: &random) ? "PUT" : "PATCH"
      _ = await service.ask(method, "\(Self.records)/\(key)", isDeletion ? "" : "{\"data\":{\(members)}}")
    } else {
      let (number, id) = (Array("\(edits)".utf8)[...], RecordID(type: "games", key: key))
      // A record that is not here cannot be deleted.
      try? await nodes[place].engine?.edits.perform { (batch) throws(SyncError) in
        if isDeletion {
          try batch.delete(id)
        } else {
          try batch.set(id) { (fields) throws(SyncError) in
            fields["seats"] = number
            if fields["made"] == nil { fields["made"] = number }
          }
        }
      }
    }
  }

  /// Ends the faults, and checks that all stores are equal and that nothing goes round afterwards.
  mutating func calmDown() async throws {
    weather.calmDown()
    try views.calmDown()
    for _ in 0..<(2 * nodes.count + 2) { try await syncAll() }
    let all = Self.contents(nodes[0].store)
    for (place, node) in nodes.enumerated() {
      let (contents, view) = (Self.contents(node.store), views[place])
      let expected = all.filter { Int($0.value["seats"] ?? "") ?? 0 >= max(view.filter, view.right) }
      guard contents != expected else { continue }
      Issue.record("Seed \(seed): store \(place), \(view), has \(contents), not \(expected).")
    }
    for (place, node) in nodes.enumerated() {
      let pending = try await node.engine?.edits.pending("games") ?? []
      #expect(pending.isEmpty, "Seed \(seed): store \(place)")
    }
    let quiet = await listings()
    try await syncAll()
    #expect(await listings() == quiet, "Seed \(seed)")
  }

  private func syncAll() async throws {
    clock.advance(by: .seconds(60))
    for node in nodes.reversed() {
      guard let engine = node.engine else { continue }
      let result = try await engine.sync(SyncRequest(allowsMassDeletion: true))
      #expect(result.failures.isEmpty, "Seed \(seed): \(result.failures)")
    }
  }

  private func listings() async -> [String] {
    var texts: [String] = []
    for node in nodes {
      if let service = node.service {
        texts.append(await service.ask("GET", "\(Self.records)?_since=0").text)
      }
    }
    return texts
  }

  /// The records without the times, which each service gives.
  private static func contents(_ store: InMemoryStore) -> [String: [String: String]] {
    var contents: [String: [String: String]] = [:]
    for record in store.records(of: "games") {
      guard let fields = try? FieldMap(record.payload) else { continue }
      var members: [String: String] = [:]
      for name in fields.fields where name != "last_modified" {
        members[name.rawValue] = fields[name].map { String(decoding: $0, as: UTF8.self) }
      }
      contents[record.id.key] = members
    }
    return contents
  }
}

/// What each device sees, and how that changes.
private final class Views: Sendable {
  /// The least number of seats that a device keeps, and that it may see.
  struct View { var filter = 0, right = 0 }

  /// A change of a view, after so many requests of the device.
  struct Step {
    var view: View
    var requests: Int
  }

  private struct State {
    var view = View()
    var isLimited = false
    var engine: SyncEngine?
    var steps: [Step] = []
  }

  private let states = Mutex<[Int: State]>([:])

  static func condition(_ bound: Int) -> Condition { .atLeast("seats", .integer(Int64(bound))) }

  subscript(place: Int) -> View { states.withLock { $0[place]?.view ?? View() } }

  func limit(_ place: Int) { states.withLock { $0[place, default: State()].isLimited = true } }

  /// The least number of seats that a device may see; `nil` if it may see and write everything.
  func right(of place: Int) -> Int? {
    states.withLock { states in states[place].flatMap { $0.isLimited ? $0.view.right : nil } }
  }

  /// Takes over a device's engine, which is new.
  func start(_ place: Int, _ engine: SyncEngine) throws(SyncError) {
    let view = states.withLock { states in
      states[place, default: State()].engine = engine
      return states[place, default: State()].view
    }
    try Self.filter(engine, view)
  }

  /// Changes a view, in place of the changes that are still to come.
  func change(_ place: Int, by steps: [Step]) throws(SyncError) {
    states.withLock { $0[place, default: State()].steps = steps }
    if steps.first?.requests == 0 { try turn(place) }
  }

  /// Makes the change that is due before a request of a device.
  func beforeRequest(of place: Int) throws(SyncError) {
    let isDue = states.withLock { states in
      guard let step = states[place]?.steps.first else { return false }
      states[place]?.steps[0].requests -= 1
      return step.requests <= 1
    }
    if isDue { try turn(place) }
  }

  /// Makes all changes that are to come.
  func calmDown() throws(SyncError) {
    for (place, state) in states.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      for _ in state.steps { try turn(place) }
    }
  }

  private func turn(_ place: Int) throws(SyncError) {
    let (view, engine) = states.withLock { states in
      guard let step = states[place]?.steps.first else { return (View?.none, SyncEngine?.none) }
      states[place]?.steps.removeFirst()
      states[place]?.view = step.view
      return (step.view, states[place]?.engine)
    }
    if let view, let engine { try Self.filter(engine, view) }
  }

  private static func filter(_ engine: SyncEngine, _ view: View) throws(SyncError) {
    try engine.setFilter(view.filter == 0 ? nil : condition(view.filter), for: "games")
  }
}

/// Decides which requests fail, and whether before or after their effect.
private final class Weather: Sendable {
  enum Fault { case before, after }
  private let state: Mutex<(random: SeededNumbers, share: Double)>

  init(seed: UInt64, share: Double) { state = Mutex((SeededNumbers(seed: ~seed), share)) }

  func calmDown() { state.withLock { $0.share = 0 } }

  func next() -> Fault? {
    state.withLock { state in
      guard Double.random(in: 0..<1, using: &state.random) < state.share else { return nil }
      return Bool.random(using: &state.random) ? .before : .after
    }
  }
}

/// Carries requests to a service, and loses some of them or of their answers.
private struct WeatheredTransport: HTTPTransport {
  let service: KintoService
  let weather: Weather
  let views: Views
  let place: Int

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    try views.beforeRequest(of: place)
    let fault = weather.next()
    if fault == .before { throw SyncError(.remoteUnavailable, during: "sending a request") }
    let response = try await ServiceTransport(service: service, headers: ["x-place": "\(place)"])
      .send(request)
    if fault == .after { throw SyncError(.remoteUnavailable, during: "waiting for an answer") }
    return response
  }

  func source(clock: any SyncPorts.Clock<Duration>) throws -> KintoSource {
    var options = KintoSource.Options()
    options.allowsPlainHTTP = true
    return try KintoSource(
      server: ServiceTransport.server, bucket: "b", options: options, transport: self, clock: clock)
  }
}
