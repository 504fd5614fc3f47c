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
/// Some devices keep a part of the records, by a filter of their own or because they may not see more;
/// both change.
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
  private static func schema(_ view: View) throws -> SyncSchema {
    try SyncSchema(
      Entity(
        "games", indexes: ["seats"], immutable: ["made"], access: view == .limited ? .readOnly : .readWrite))
  }

  /// What a store keeps of the records above it.
  private enum View { case whole, filtered, limited }

  /// A store that is in step with the service above it; a gateway is served itself.
  private struct Node {
    let store: InMemoryStore
    let above: Int?
    let isServed: Bool
    let view: View
    var engine: SyncEngine?
    var service: KintoService?
  }

  let seed: UInt64
  private let clock = ManualClock()
  private let weather: Weather
  private let bounds = Bounds()
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
      let view = isServed ? .whole : [View.whole, .whole, .filtered, .limited].randomElement(using: &choices)
      let above = place == 0 ? nil : isServed ? place - 1 : Int.random(in: 0...gateways, using: &random)
      nodes.append(
        Node(
          store: InMemoryStore(identity: "store \(place)"), above: above, isServed: isServed,
          view: view ?? .whole))
      if view == .limited { bounds.limit(place) }
      try await start(place)
    }
  }

  /// Starts a node, or starts it again over its store.
  private mutating func start(_ place: Int) async throws {
    let node = nodes[place]
    let schema = try Self.schema(node.view)
    if let above = node.above {
      let source = try WeatheredTransport(
        service: try #require(nodes[above].service), weather: weather, place: place
      ).source(clock: clock)
      // A failed request waits for the next sync.
      nodes[place].engine = try await SyncEngine(
        schema: schema, store: node.store, source: source, sink: KintoSink(source), clock: clock,
        options: SyncOptions(pageSize: 3, retry: RetryPolicy(attempts: 1)))
      if node.view == .filtered {
        try nodes[place].engine?.setFilter(bounds.condition(of: place), for: "games")
      }
    }
    guard node.isServed else { return }
    let mode = nodes[place].engine.map { KintoService.Mode.gateway($0.edits) } ?? .origin
    let bounds = bounds
    nodes[place].service = try await KintoService(
      node.store, schema: schema, bucket: "b", mode: mode, clock: clock
    ) { request in
      guard let name = request.headers["x-place"], let place = Int(name),
        let condition = bounds.right(of: place)
      else {
        return .owner()
      }
      return ServiceCaller(name, reads: { _ in .matching(condition) }, writes: { _ in .nothing })
    }
    for (below, other) in nodes.enumerated() where other.above == place { try await start(below) }
  }

  mutating func live() async throws {
    for _ in 0..<Int.random(in: 20...60, using: &random) {
      clock.advance(by: .milliseconds(Int.random(in: 1...9000, using: &random)))
      let place = Int.random(in: 0..<nodes.count, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        change(place)
        try await start(place)
      case 1..<8: await edit(place)
      // What meets a fault is left to a later sync.
      default: _ = try? await nodes[place].engine?.sync()
      }
    }
  }

  /// Changes what a device may see, or keeps once it has started again.
  private mutating func change(_ place: Int) {
    guard nodes[place].view != .whole else { return }
    bounds.set(Int.random(in: 0...edits + 1, using: &random), of: place)
  }

  /// Edits as the app of a node, or as another client of its service.
  private mutating func edit(_ place: Int) async {
    // What a device does not see it cannot edit.
    guard nodes[place].view == .whole else { return }
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
    for _ in 0..<(2 * nodes.count + 2) { try await syncAll() }
    let all = Self.contents(nodes[0].store)
    for (place, node) in nodes.enumerated() {
      let (contents, bound) = (Self.contents(node.store), bounds.bound(of: place))
      let expected = node.view == .whole ? all : all.filter { Int($0.value["seats"] ?? "") ?? 0 >= bound }
      guard contents != expected else { continue }
      Issue.record("Seed \(seed): store \(place), \(node.view), has \(contents), not \(expected).")
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

/// The least number of seats that each device with a part of the records sees.
private final class Bounds: Sendable {
  private let bounds = Mutex<[Int: Int]>([:])
  private let limited = Mutex<Set<Int>>([])

  func set(_ bound: Int, of place: Int) { bounds.withLock { $0[place] = bound } }

  func bound(of place: Int) -> Int { bounds.withLock { $0[place] ?? 0 } }

  /// What a device may see; `nil` for everything.
  func right(of place: Int) -> Condition? {
    limited.withLock { $0.contains(place) } ? condition(of: place) : nil
  }

  /// Limits a device's rights, and not what it keeps by itself.
  func limit(_ place: Int) { _ = limited.withLock { $0.insert(place) } }

  func condition(of place: Int) -> Condition { .atLeast("seats", .integer(Int64(bound(of: place)))) }
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
  let place: Int

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
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
