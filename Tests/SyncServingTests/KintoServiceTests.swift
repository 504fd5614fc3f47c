import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncAdapters
import SyncServing
import Testing

@Suite("A service of Kinto's API", .timeLimit(.minutes(5)))
struct KintoServiceTests {
  private static let records = KintoService.records

  @Test(arguments: ServedKind.present)
  func timestampsRiseInTheOrderOfCommitsOfAllServers(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      let one = try await served.service()
      let other = try await served.service(try await served.open())
      var last = 0
      for number in 0..<20 {
        let answer = await (number % 2 == 0 ? one : other).put("k\(number % 7)", "\"seats\":\(number)")
        #expect(answer.stamp > last)
        last = answer.stamp
        #expect(await one.ask("GET").etag == last)
        #expect(await other.ask("GET").etag == last)
      }
      #expect(await one.ask("GET").text == other.ask("GET").text)
    }
  }

  @Test(arguments: ServedKind.present)
  func whatOthersCommitGetsLaterTimestamps(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      try await served.put("games", [("a", #"{"seats":1}"#), ("b", #"{"seats":1}"#)])
      let service = try await served.service()
      let first = await service.ask("GET")
      #expect(first.ids.sorted() == ["a", "b"])
      // More records than a store lists for one commit.
      try await served.put("games", (0..<300).map { ("n\($0)", #"{"seats":2}"#) })
      try await served.delete("games", ["a"])
      try await served.put("games", [("b", #"{"seats":1}"#)], version: 7)
      let delta = await service.ask("GET", "\(Self.records)?_since=\(first.etag)&_sort=last_modified")
      #expect(delta.list.count == 301)
      #expect(delta.list.filter { $0["deleted"] as? Bool == true }.map { $0["id"] as? String } == ["a"])
      #expect(!delta.ids.contains("b"), "The record has another version, and the same content.")
      #expect(delta.stamps == delta.stamps.sorted() && Set(delta.stamps).count == 301)
      #expect(delta.stamps.min() ?? 0 > first.etag && delta.etag == delta.stamps.max())
      #expect(await service.ask("GET", "\(Self.records)?_since=\(delta.etag)").list.isEmpty)
      #expect(await service.ask("GET", "\(Self.records)?_since=0&deleted=true").ids == ["a"])
      #expect(await service.ask("GET", "\(Self.records)?_since=0&deleted=false&_limit=9").ids.count == 9)
    }
  }

  @Test(arguments: ServedKind.present)
  func timestampsStayOverARestart(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      let service = try await served.service()
      for key in ["a", "b"] { _ = await service.put(key, "\"seats\":1") }
      _ = await service.ask("DELETE", "\(Self.records)/a")
      let delta = await service.ask("GET", "\(Self.records)?_since=0")
      let again = try await served.service(try await served.open())
      #expect(await again.ask("GET", "\(Self.records)?_since=0").text == delta.text)
      #expect(await again.put("b", "\"seats\":2").stamp > delta.etag)
    }
  }

  @Test(arguments: ServedKind.present)
  func anOriginLeavesNothingPending(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      let service = try await served.service()
      #expect(await service.put("a", "\"seats\":1,\"x\":1e2").status == 201)
      #expect(await service.put("a", "\"seats\":2").status == 200)
      #expect(await service.ask("DELETE", "\(Self.records)/a").status == 200)
      #expect(await service.ask("DELETE", "\(Self.records)/a").status == 404)
      #expect(await service.put("b", "\"seats\":2").status == 201)
      let edits = LocalEdits(store: served.store, schema: served.schema)
      #expect(try await edits.pending("games").isEmpty)
      let shown = try await served.store.read { (snapshot) throws(SyncError) in
        try snapshot.records(Query("games")).map(\.id.key)
      }
      #expect(shown == ["b"])
    }
  }

  @Test(arguments: ServedKind.present)
  func aGatewaysEditIsVisibleAtOnceAndPushedLaterWithoutAnEcho(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind, [ServedStore.games]) { served in
      let remote = InMemoryRemote()
      let engine = try await SyncEngine(
        schema: served.schema, store: served.store, source: remote, sink: remote)
      let service = try await KintoService(
        served.store, schema: served.schema, bucket: "b", mode: .gateway(engine.edits))
      let written = await service.put("a", "\"seats\":1")
      #expect(written.status == 201)
      #expect(try await engine.edits.pending("games").count == 1)
      let before = await service.ask("GET", "\(Self.records)?_since=0")
      #expect(before.ids == ["a"])
      let result = try await engine.sync()
      #expect(result.failures.isEmpty)
      #expect(try await engine.edits.pending("games").isEmpty)
      #expect(await service.ask("GET", "\(Self.records)?_since=0").text == before.text)
      #expect(await service.put("a", "\"seats\":2", ["If-Match": "\"\(written.stamp)\""]).status == 200)
      #expect(await service.ask("DELETE", "\(Self.records)/a").status == 200)
      _ = try await engine.sync()
      #expect(await service.ask("GET").list.isEmpty)
    }
  }

  @Test func whatTheRemoteOfAGatewayRefusesCanBeAskedFor() async throws {
    try await ServedStore.with(.sqlite, [ServedStore.games]) { served in
      let remote = InMemoryRemote()
      let engine = try await SyncEngine(
        schema: served.schema, store: served.store, source: remote, sink: remote)
      let service = try await KintoService(
        served.store, schema: served.schema, bucket: "b", mode: .gateway(engine.edits))
      remote.rule(.refused(reason: "no room"), on: "games", "r")
      _ = await service.put("r", "\"seats\":1")
      _ = try await engine.sync()
      let refusals = await service.ask("GET", "/v1/buckets/b/collections/games/refusals")
      let states = try await engine.edits.pending("games").map(\.state)
      #expect(refusals.ids == ["r"], "\(refusals) \(states)")
      #expect(refusals.list.first?["reason"] as? String == "no room")
      let before = await service.ask("GET").etag
      try await engine.edits.discard(RecordID(type: "games", key: "r"))
      let delta = await service.ask("GET", "\(Self.records)?_since=\(before)")
      #expect(delta.ids == ["r"] && delta.list[0]["deleted"] as? Bool == true)
    }
  }

  @Test func theSameRecordInAnotherSpellingIsNoChange() async throws {
    try await ServedStore.with(.sqlite) { served in
      try await served.put("games", [("a", #"{"id":"a","seats":1,"price":1.50}"#)])
      let service = try await served.service()
      let before = await service.ask("GET")
      try await served.put("games", [("a", #"{ "price": 15e-1, "last_modified": 7, "seats": 1 }"#)])
      #expect(await service.ask("GET").etag == before.etag)
      try await served.put("games", [("a", #"{"price":1.51,"seats":1}"#)])
      #expect(await service.ask("GET").etag > before.etag)
    }
  }

  @Test func preconditionsAreKintos() async throws {
    try await ServedStore.with(.sqlite) { served in
      let service = try await served.service()
      let stamp = await service.put("a", "\"seats\":1").stamp
      let (right, wrong) = (["If-Match": "\"\(stamp)\""], ["If-Match": "\"\(stamp - 1)\""])
      let cases: [(String, String, [String: String], Int)] = [
        ("PUT", "a", wrong, 412), ("PUT", "a", ["If-None-Match": "*"], 412), ("PUT", "none", right, 412),
        ("PATCH", "a", wrong, 412), ("DELETE", "a", wrong, 412), ("GET", "a", wrong, 412),
        ("GET", "a", ["If-None-Match": "\"\(stamp)\""], 304), ("GET", "a", right, 200),
        ("DELETE", "none", right, 404), ("PUT", "a", ["If-Match": "yes"], 400), ("PUT", "a", right, 200),
      ]
      #expect(await service.put("same", "").stamp < service.put("same", "").stamp)
      for (method, key, headers, status) in cases {
        let answer = await service.ask(method, "\(Self.records)/\(key)", #"{"data":{"seats":2}}"#, headers)
        #expect(answer.status == status, "\(method) \(key) \(headers): \(answer)")
        guard status == 412, key == "a" else { continue }
        let existing = (answer.object["details"] as? [String: Any])?["existing"] as? [String: Any]
        #expect(existing?["last_modified"] as? Int == stamp && existing?["seats"] as? Int == 1)
      }
      let etag = await service.ask("GET").etag
      #expect(await service.ask("GET", headers: ["If-None-Match": "\"\(etag)\""]).status == 304)
      #expect(await service.ask("HEAD", headers: ["If-Match": "\"\(etag - 1)\""]).status == 412)
      #expect(await service.ask("HEAD", headers: ["If-Match": "\"\(etag)\""]).headers["Total-Objects"] == "2")
      #expect(await service.ask("POST", body: #"{"data":{"id":"a","seats":9}}"#).record["seats"] as? Int == 2)
    }
  }

  @Test(arguments: [true, false])
  func pagesOfAnyOrderHaveEveryRecordOnce(_ descends: Bool) async throws {
    try await ServedStore.with(.sqlite) { served in
      let service = try await served.service()
      for number in 0..<23 { _ = await service.put("k\(number)", "\"seats\":\(number % 4)") }
      for sort in ["last_modified", "seats", "id", "seats,last_modified"] {
        var target: String? = "\(Self.records)?_limit=5&min_seats=%30&_sort=\(descends ? "-" : "")\(sort)"
        var (ids, pages) = ([String](), 0)
        while let next = target {
          let answer = await service.ask("GET", next, headers: ["Host": "example.com"])
          ids += answer.ids
          pages += 1
          target = answer.headers["Next-Page"].map { String($0.dropFirst("http://example.com".count)) }
          if pages > 10 { break }
        }
        #expect(ids.count == 23 && Set(ids).count == 23 && pages == 5, "\(sort): \(ids)")
        if sort == "last_modified" { #expect(ids == (0..<23).map { "k\(descends ? 22 - $0 : $0)" }) }
      }
    }
  }

  @Test(arguments: ServedKind.present)
  func aLongListIsTheSameInBothDirections(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      let clock = ManualClock()
      let service = try await KintoService(
        served.store, schema: served.schema, bucket: "b", mode: .origin, clock: clock)
      // Many records of one moment, and few of many days.
      for day in 0..<6 {
        for number in 0..<(day % 3 == 0 ? 2 : 1) { _ = await service.put("d\(day)-\(number)", "") }
        if day % 2 == 0 {
          try await served.put("games", (0..<700).map { ("n\(day)-\($0)", #"{"seats":\#(day)}"#) })
          _ = await service.ask("GET")
        }
        clock.advance(by: .seconds(86_400 * (day + 1)))
      }
      let up = await service.ask("GET", "\(Self.records)?_sort=last_modified")
      let down = await service.ask("GET")
      #expect(up.ids.count == 2108 && Set(up.ids).count == 2108 && up.stamps == up.stamps.sorted())
      #expect(down.ids == up.ids.reversed())
      let (first, last) = (up.stamps[300], up.stamps[1900])
      let part = await service.ask("GET", "\(Self.records)?gt_last_modified=\(first)&_before=\(last)")
      #expect(part.ids == up.ids[301..<1900].reversed())
    }
  }

  @Test func filtersSelectByFieldsKeysAndTimes() async throws {
    try await ServedStore.with(.sqlite) { served in
      let service = try await served.service()
      var stamps: [Int] = []
      for (key, members) in [
        ("a", #""seats":1,"owner":"ann""#), ("b", #""seats":2,"owner":"bob","note":"red car""#),
        ("c", #""seats":3,"owner":"ann""#), ("7", #""seats":4,"owner":null"#),
      ] { stamps.append(await service.put(key, members).stamp) }
      let cases: [(String, [String])] = [
        ("seats=2", ["b"]), ("owner=ann", ["a", "c"]), ("owner=%22ann%22&min_seats=2", ["c"]),
        ("max_seats=2", ["a", "b"]), ("gt_seats=1&lt_seats=4", ["b", "c"]), ("not_owner=ann", ["7", "b"]),
        ("in_seats=1,4", ["7", "a"]), ("exclude_id=a,b,c", ["7"]), ("in_id=%22a%22,%227%22", ["7", "a"]),
        ("id=7", ["7"]), ("like_note=CAR", ["b"]), ("like_note=red*", ["b"]), ("like_note=car*", []),
        ("has_note=true", ["b"]), ("has_owner=false", ["7"]), ("_since=\(stamps[1])", ["7", "c"]),
        ("_before=\(stamps[1])", ["a"]), ("min_last_modified=\(stamps[2])", ["7", "c"]), ("note=x", []),
        ("note=red+car", ["b"]), ("note=red%2Bcar", []), ("like_note=r*d*car", ["b"]),
        ("_sort=,&id=7", ["7"]),
        ("in_note=%22red%20car%22,x", ["b"]), ("max_last_modified=\(stamps[0])", ["a"]),
      ]
      for (query, keys) in cases {
        let answer = await service.ask("GET", "\(Self.records)?\(query)")
        #expect(answer.ids.sorted() == keys, "\(query): \(answer)")
        let total = await service.ask("HEAD", "\(Self.records)?\(query)").headers["Total-Records"]
        #expect(total == "\(keys.count)", "\(query)")
      }
      #expect(await service.ask("GET", "\(Self.records)?_fields=seats&id=a").list[0].count == 3)
      for query in ["_since=x", "_since=-1", "_limit=x", "_limit=-1", "_token=zz", "deleted=x", "a=%ZZ"] {
        let answer = await service.ask("GET", "\(Self.records)?\(query)")
        #expect(answer.status == 400 && answer.object["errno"] as? Int == 107, "\(query): \(answer)")
      }
    }
  }

  @Test func eachRequestOfABatchHasItsOwnFate() async throws {
    try await ServedStore.with(.sqlite) { served in
      let service = try await served.service()
      _ = await service.put("a", "\"seats\":1")
      let answer = await service.ask(
        "POST", "/v1/batch",
        #"""
        {"defaults":{"method":"PUT","body":{"data":{"seats":5}}},"requests":[
          {"path":"/v1/buckets/b/collections/games/records/b"},
          {"path":"/buckets/b/collections/games/records/a","headers":{"If-None-Match":"*"}},
          {"path":"/buckets/b/collections/games/records/a%2Fb"},
          {"method":"DELETE","path":"/buckets/b/collections/games/records/none"},
          {"method":"GET","path":"/buckets/b/collections/games/records?_sort=id"},
          {"path":"/buckets/b/collections/games/records/c","body":{"data":[]}}]}
        """#)
      let parts = answer.object["responses"] as? [[String: Any]] ?? []
      #expect(parts.map { $0["status"] as? Int } == [201, 412, 400, 404, 200, 400])
      #expect(await service.ask("GET").ids.sorted() == ["a", "b"])
      let many = Array(repeating: #"{"path":"/buckets"}"#, count: 201).joined(separator: ",")
      #expect(await service.ask("POST", "/v1/batch", "{\"requests\":[\(many)]}").status == 400)
      for body in ["", "{}", "{\"requests\":[1]}", "{\"requests\":[{}]}", "[", "{\"requests\":{}}"] {
        #expect(await service.ask("POST", "/v1/batch", body).status == 400, "\(body)")
      }
    }
  }

  @Test func aListIsDeletedByFilters() async throws {
    try await ServedStore.with(.sqlite) { served in
      let service = try await served.service()
      for number in 0..<6 { _ = await service.put("k\(number)", "\"seats\":\(number)") }
      let deleted = await service.ask("DELETE", "\(Self.records)?min_seats=4")
      #expect(deleted.ids.sorted() == ["k4", "k5"] && deleted.etag == deleted.stamps.max())
      #expect(await service.ask("DELETE", "\(Self.records)?min_seats=4").text == #"{"data":[]}"#)
      #expect(await service.ask("GET", "\(Self.records)?_since=\(deleted.stamps.min()! - 1)").ids.count == 2)
      #expect(await service.ask("DELETE").list.count == 4)
    }
  }

  @Test func patchesChangeMembers() async throws {
    try await ServedStore.with(.sqlite) { served in
      let service = try await served.service()
      _ = await service.put("a", #""seats":1,"o":{"x":1,"y":2},"big":12345678901234567890"#)
      let patched = await service.ask("PATCH", "\(Self.records)/a", #"{"data":{"o":{"x":3},"n":null}}"#)
      #expect(patched.text.contains(#""o":{"x":3}"#) && patched.text.contains(#""n":null"#))
      #expect(patched.text.contains("12345678901234567890"))
      let merged = await service.ask(
        "PATCH", "\(Self.records)/a", #"{"data":{"o":{"y":2},"n":null}}"#,
        ["Content-Type": "application/merge-patch+json"])
      #expect(merged.text.contains(#""o":{"x":3,"y":2}"#) && !merged.text.contains(#""n":"#))
      let refused = await service.ask(
        "PATCH", "\(Self.records)/a", "[]", ["Content-Type": "application/json-patch+json"])
      #expect(refused.status == 415)
      #expect(await service.ask("PATCH", "\(Self.records)/none", #"{"data":{}}"#).status == 404)
    }
  }

  @Test func badRequestsAreToldWhatIsWrong() async throws {
    try await ServedStore.with(.memory) { served in
      let service = try await served.service()
      let cases: [(String, String, String, Int, Int)] = [
        ("GET", "/v1/buckets/b/collections/none/records", "", 404, 111),
        ("GET", "/v1/buckets/x/collections/games/records", "", 403, 121),
        ("GET", "/v1/nothing", "", 404, 111), ("GET", "\(Self.records)/none", "", 404, 110),
        ("PUT", "\(Self.records)/a", "{", 400, 107), ("PUT", "\(Self.records)/a", #"{"data":3}"#, 400, 107),
        ("PUT", "\(Self.records)/a", #"{"data":{"id":"b"}}"#, 400, 107),
        ("PUT", "\(Self.records)/a", #"{"data":{"n":1e999}}"#, 400, 107),
        ("PUT", "\(Self.records)/a%20b", #"{"data":{}}"#, 400, 107),
        ("GET", "\(Self.records)/a%20b", "", 400, 107),
        ("PUT", "\(Self.records)/a", #"{"data":{},"x":1}"#, 400, 107),
        ("GET", "/v1/buckets/b/collections/none", "", 404, 110),
        ("POST", Self.records, #"{"data":{"id":7}}"#, 400, 107),
        ("PUT", Self.records, "", 405, 115), ("POST", "\(Self.records)/a", "", 405, 115),
        ("PUT", "/v1/buckets/b/collections/new", "{}", 403, 121), ("DELETE", "/v1/buckets/b", "", 403, 121),
        ("GET", "no-path", "", 404, 111),
      ]
      for (method, target, body, status, errno) in cases {
        let answer = await service.ask(method, target, body)
        #expect(
          answer.status == status && answer.object["errno"] as? Int == errno, "\(method) \(target): \(answer)"
        )
        #expect(answer.object["code"] as? Int == status)
      }
      let form = ["Content-Type": "text/plain"]
      #expect(
        await service.ask("POST", Self.records, #"{"data":{}}"#, form).status == 415, "A form of a web site")
      #expect(await service.ask("GET", "/v1/").object["settings"] != nil)
      #expect(await service.ask("GET", "/v1/buckets").ids == ["b"])
      #expect(await service.ask("GET", "/v1/buckets/b/collections").ids.sorted() == ["games", "items"])
    }
  }

  @Test func anOriginsClientsMayDeclareCollections() async throws {
    try await ServedStore.with(.sqlite) { served in
      var options = KintoService.Options()
      options.allowsNewCollections = true
      let service = try await served.service(options: options)
      let other = try await served.service(try await served.open(), options: options)
      #expect(await service.ask("PUT", "/v1/buckets/b/collections/notes", "{}").status == 201)
      #expect(await service.ask("PUT", "/v1/buckets/b/collections/notes", "{}").status == 200)
      let path = "/v1/buckets/b/collections/notes/records"
      #expect(await service.ask("PUT", "\(path)/n1", #"{"data":{"t":1}}"#).status == 201)
      #expect(await other.ask("GET", path).ids == ["n1"])
      #expect(await service.ask("PUT", "/v1/buckets/b/collections/Notes", "{}").status == 400)
    }
  }

  @Test func underLoadClientsAreAskedToComeBack() async throws {
    try await ServedStore.with(.memory) { served in
      var options = KintoService.Options()
      options.concurrentRequests = 1
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      let (released, release) = AsyncStream.makeStream(of: Void.self)
      let service = try await served.service(options: options) { request in
        if request.headers["hold"] != nil {
          begin.yield()
          for await _ in released { break }
        }
        return .owner()
      }
      async let held = service.ask("GET", Self.records, "", ["hold": "1"])
      for await _ in begun { break }
      let refused = await service.ask("GET")
      #expect(refused.status == 503 && refused.headers["Retry-After"] != nil)
      release.yield()
      #expect(await held.headers["Backoff"] != nil)
      #expect(await service.ask("GET").status == 200)
    }
  }
}
