import CanonicalSync
import SyncAdapters
import SyncServing
import Synchronization
import Testing

@Suite("Many servers", .timeLimit(.minutes(10)))
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
}

/// The number of writers that have ended.
private final class Writers: Sendable {
  private let count = Mutex(0)

  var finished: Int { count.withLock { $0 } }
  func finish() { count.withLock { $0 += 1 } }
}
