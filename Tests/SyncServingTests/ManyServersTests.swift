import CanonicalSync
import InMemoryAdapters
import KintoAdapters
import SyncAdapters
import SyncServing
import Synchronization
import Testing

@Suite("Many servers, and chains of them", .timeLimit(.minutes(10)))
struct ManyServersTests {
  private static let records = KintoService.records

  @Test(arguments: ServedKind.present)
  func whoFollowsThreeServersMissesNothingAndSeesNothingTwice(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      var services: [KintoService] = []
      for _ in 0..<3 { services.append(try await served.service(try await served.open())) }
      let servers = services
      let writers = Writers()
      var (seen, since, asked) = (Set<String>(), 0, 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (writer, service) in servers.enumerated() {
          group.addTask {
            for round in 0..<12 {
              let parts = (0..<5).map {
                #"{"method":"PUT","path":"\#(Self.records)/w\#(writer)-\#((round + $0) % 9)","body":{"data":{"seats":\#(round)}}}"#
              }
              let answer = await service.ask(
                "POST", "/v1/batch", "{\"requests\":[\(parts.joined(separator: ","))]}")
              #expect(answer.status == 200, "\(answer)")
              if round % 4 == 3 { _ = await service.ask("DELETE", "\(Self.records)/w\(writer)-\(round % 9)") }
            }
            writers.finish()
          }
        }
        while true {
          let isLast = writers.finished == 3
          let delta = await servers[asked % 3].ask(
            "GET", "\(Self.records)?_since=\(since)&_sort=last_modified")
          asked += 1
          #expect(delta.status == 200)
          for (id, stamp) in zip(delta.ids, delta.stamps) {
            #expect(stamp > since)
            #expect(seen.insert("\(id)@\(stamp)").inserted, "\(id) was seen twice.")
          }
          since = delta.etag
          if isLast { break }
        }
        try await group.waitForAll()
      }
      for record in await servers[0].ask("GET", "\(Self.records)?_since=0").list {
        let name = "\(record["id"] as? String ?? "")@\(record["last_modified"] as? Int ?? 0)"
        #expect(seen.contains(name), "\(name) was missed.")
      }
    }
  }

  /// A device of a gateway of an origin: edits at each end arrive at the other, and then there is
  /// silence.
  @Test(arguments: 0..<12)
  func aChainConvergesWithoutAnEcho(_ seed: UInt64) async throws {
    let schema = try SyncSchema(ServedStore.games)
    let origin = InMemoryStore()
    let clock = ManualClock()
    let top = try await KintoService(origin, schema: schema, bucket: "b", mode: .origin, clock: clock)
    func engine(_ service: KintoService, _ store: InMemoryStore) async throws -> SyncEngine {
      let source = try ServiceTransport(service: service).source(clock: clock)
      return try await SyncEngine(
        schema: schema, store: store, source: source, sink: KintoSink(source), clock: clock)
    }
    let (middle, end) = (InMemoryStore(), InMemoryStore())
    let gateway = try await engine(top, middle)
    let served = try await KintoService(
      middle, schema: schema, bucket: "b", mode: .gateway(gateway.edits), clock: clock)
    let device = try await engine(served, end)
    var random = SeededNumbers(seed: seed)
    for number in 0..<40 {
      clock.advance(by: .milliseconds(Int.random(in: 1...9000, using: &random)))
      let id = RecordID(type: "games", key: "k\(Int.random(in: 0..<6, using: &random))")
      let json = Array("\(number)".utf8)
      let isDeletion = Int.random(in: 0..<4, using: &random) == 0
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let edits = (number % 2 == 0 ? device : gateway).edits
        try await edits.perform { (batch) throws(SyncError) in
          if isDeletion { try batch.delete(id) } else { try batch.set(id) { $0["seats"] = json[...] } }
        }
      case 2:
        let path = "\(Self.records)/\(id.key)"
        _ = await top.ask(
          isDeletion ? "DELETE" : "PUT", path, isDeletion ? "" : #"{"data":{"seats":\#(number)}}"#)
      case 3: _ = try await device.sync()
      default: _ = try await gateway.sync()
      }
    }
    for _ in 0..<4 {
      clock.advance(by: .seconds(60))
      for engine in [device, gateway] { #expect(try await engine.sync().failures.isEmpty) }
    }
    func contents(_ store: InMemoryStore) -> [String: String] {
      var contents: [String: String] = [:]
      for record in store.records(of: "games") { contents[record.id.key] = "\(record.fields)" }
      return contents
    }
    #expect(contents(origin) == contents(middle))
    #expect(contents(middle) == contents(end))
    let quiet = await (
      top.ask("GET", "\(Self.records)?_since=0").text, served.ask("GET", "\(Self.records)?_since=0").text
    )
    for _ in 0..<2 {
      clock.advance(by: .seconds(60))
      for engine in [device, gateway] {
        let result = try await engine.sync()
        #expect(result.failures.isEmpty)
      }
    }
    #expect(await top.ask("GET", "\(Self.records)?_since=0").text == quiet.0)
    #expect(await served.ask("GET", "\(Self.records)?_since=0").text == quiet.1)
    #expect(try await device.edits.pending("games").isEmpty)
    #expect(try await gateway.edits.pending("games").isEmpty)
  }
}

/// The number of writers that have ended.
private final class Writers: Sendable {
  private let count = Mutex(0)

  var finished: Int { count.withLock { $0 } }
  func finish() { count.withLock { $0 += 1 } }
}
