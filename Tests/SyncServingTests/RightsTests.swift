import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncAdapters
import SyncServing
import Synchronization
import Testing

/// Who sees what: nothing outside of a caller's condition leaves the service.
@Suite("Rights of a service's callers", .timeLimit(.minutes(10)))
struct RightsTests {
  private static let records = KintoService.records

  /// Callers by the header `user`; the condition is on the field `owner`.
  @Sendable private static func byOwner(_ request: ServiceRequest) -> ServiceCaller? {
    guard let user = request.headers["user"] else { return nil }
    let own = { @Sendable (type: RecordType) -> ServiceCaller.Scope in
      user == "root" ? .everything : type == "games" ? .matching(.equal("owner", .string(user))) : .nothing
    }
    return ServiceCaller(user, reads: own, writes: own)
  }

  private func with(
    _ kind: ServedKind = .sqlite, _ body: (ServedStore, KintoService) async throws -> Void
  ) async throws {
    try await ServedStore.with(kind) { served in
      try await body(served, try await served.service { @Sendable request in Self.byOwner(request) })
    }
  }

  @Test(arguments: ServedKind.present)
  func aRecordThatLeavesAConditionIsATombstoneAndOneThatEntersIsNew(_ kind: ServedKind) async throws {
    try await with(kind) { _, service in
      let (ann, bob, root) = (["user": "ann"], ["user": "bob"], ["user": "root"])
      _ = await service.put("a", #""owner":"ann""#, ann)
      _ = await service.put("b", #""owner":"bob""#, bob)
      let first = await service.ask("GET", headers: ann)
      #expect(first.ids == ["a"])
      #expect(await service.ask("HEAD", headers: ann).headers["Total-Objects"] == "1")
      #expect(await service.put("a", #""owner":"bob""#, root).status == 200)
      let delta = await service.ask("GET", "\(Self.records)?_since=\(first.etag)", headers: ann)
      #expect(delta.ids == ["a"] && delta.list[0]["deleted"] as? Bool == true && delta.list[0].count == 3)
      #expect(await service.ask("GET", "\(Self.records)?_since=\(delta.etag)", headers: ann).list.isEmpty)
      #expect(await service.ask("GET", headers: bob).ids.sorted() == ["a", "b"])
      // It changes and goes where Ann does not see it.
      _ = await service.put("a", #""owner":"bob","seats":2"#, bob)
      _ = await service.ask("DELETE", "\(Self.records)/a", headers: bob)
      #expect(await service.ask("GET", "\(Self.records)?_since=\(delta.etag)", headers: ann).list.isEmpty)
      #expect(await service.ask("GET", "\(Self.records)?_since=\(first.etag)", headers: ann).ids == ["a"])
      // It comes back to her.
      _ = await service.put("a", #""owner":"ann""#, root)
      #expect(
        await service.ask("GET", "\(Self.records)?_since=\(delta.etag)", headers: ann).list[0]["owner"]
          as? String == "ann")
    }
  }

  @Test(arguments: ServedKind.present)
  func aMirrorWhoseRightsShrinkRemovesTheRestUnasked(_ kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      try await served.put("games", (0..<60).map { ("g\($0)", #"{"id":"g\#($0)","seats":\#($0)}"#) })
      let last = Mutex<Int64>(100)
      let service = try await served.service { @Sendable _ in
        let own = ServiceCaller.Scope.matching(.atMost("seats", .integer(last.withLock { $0 })))
        return ServiceCaller("ann", reads: { $0 == "games" ? own : .everything }, writes: { _ in .nothing })
      }
      let store = InMemoryStore()
      let engine = try await SyncEngine(
        schema: served.schema, store: store, source: ServiceTransport(service: service).source(),
        options: SyncOptions(massDeletionRecords: 10))
      #expect(try await engine.sync()["games"].inserted == 60)
      last.withLock { $0 = 2 }
      let result = try await engine.sync()
      #expect(result.refusedSweeps.isEmpty && result.failures.isEmpty)
      #expect(store.records(of: "games").map(\.id.key).sorted() == ["g0", "g1", "g2"])
    }
  }

  @Test func aCallerWhoseRightsChangeListsEverythingAgain() async throws {
    try await ServedStore.with(.sqlite) { served in
      let team = Mutex("red")
      let service = try await served.service { @Sendable _ in
        let own = ServiceCaller.Scope.matching(.equal("owner", .string(team.withLock { $0 })))
        return ServiceCaller("ann", reads: { _ in own }, writes: { _ in .everything })
      }
      for owner in ["red", "blue"] { _ = await service.put(owner, "\"owner\":\"\(owner)\"") }
      let first = await service.ask("GET")
      let since = "\(Self.records)?_since=\(first.etag)"
      #expect(first.ids == ["red"])
      #expect(await service.ask("GET", since).status == 200)
      team.withLock { $0 = "blue" }
      #expect(await service.ask("GET", since, headers: ["If-None-Match": "\"\(first.etag)\""]).status == 400)
      let again = await service.ask("GET")
      #expect(again.ids == ["blue"] && again.etag > first.etag)
      // A client's delta reaches back by some seconds.
      #expect(await service.ask("GET", "\(Self.records)?_since=\(again.etag - 5000)").status == 200)
      // This package's client does so by itself.
      team.withLock { $0 = "red" }
      #expect(await service.ask("GET", "\(Self.records)?_since=\(again.etag)").status == 400)
    }
  }

  @Test func withoutACallerNothingIsAnswered() async throws {
    try await with { _, service in
      for target in ["/v1/", "/v1/buckets", Self.records, "/v1/buckets/monitor/collections/changes/records"] {
        let answer = await service.ask("GET", target)
        #expect(answer.status == 401 && answer.object["errno"] as? Int == 104)
      }
      let hidden = await service.ask(
        "GET", "/v1/buckets/b/collections/items/records", headers: ["user": "ann"])
      let absent = await service.ask(
        "GET", "/v1/buckets/b/collections/none/records", headers: ["user": "ann"])
      #expect(hidden.text == absent.text && hidden.status == 403)
      #expect(
        await service.ask("GET", "/v1/buckets/b/collections", headers: ["user": "ann"]).ids == ["games"])
    }
  }

  /// Five hundred attacks: random requests of one user over records of others, all of which hold a
  /// mark in each of their parts. No answer holds the mark.
  @Test(arguments: 0..<10)
  func noAttackGetsAByte(_ seed: UInt64) async throws {
    try await with(seed % 2 == 0 ? .sqlite : .memory) { served, service in
      var random = SeededNumbers(seed: seed)
      let (mark, root, ann) = ("m4rk", ["user": "root"], ["user": "ann"])
      var since: [Int] = [0]
      var own: Set<String> = []
      for number in 0..<50 {
        // Records of others come, change and go meanwhile.
        let key = "\(mark)-\(Int.random(in: 0..<8, using: &random))"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: _ = await service.ask("DELETE", "\(Self.records)/\(key)", headers: root)
        case 1:
          try await served.put(
            "games", [(key, #"{"owner":"\#(mark)","note":"\#(mark)","seats":\#(number)}"#)],
            version: Int64(number))
        default: _ = await service.put(key, #""owner":"\#(mark)","note":"\#(mark)","seats":\#(number)"#, root)
        }
        let theirs = "\(Self.records)?owner=\(mark)"
        let before = await service.ask("GET", theirs, headers: root)
        // The user may make a record under a free id.
        let target = before.ids.contains(key) ? key : "x-\(number)"
        let attack = Self.attack(
          &random, key: target, since: since.randomElement(using: &random) ?? 0, number)
        let answer = await service.ask(
          attack.method, attack.target, attack.body, ann.merging(attack.headers) { a, _ in a })
        // What the request itself names may come back.
        let asked = attack.target + attack.body + attack.headers.values.joined()
        if !asked.contains(mark) {
          #expect(!answer.text.contains(mark), "\(attack) \(answer)")
          #expect(!answer.headers.values.joined().contains(mark), "\(attack)")
        }
        #expect(!answer.text.contains("\"note\":\"\(mark)"), "\(attack) \(answer)")
        #expect(!answer.text.contains("\"owner\":\"\(mark)"), "\(attack) \(answer)")
        if attack.method == "HEAD" {
          own = Set(await service.ask("GET", Self.records, headers: ann).ids)
          #expect(Int(answer.headers["Total-Objects"] ?? "0") ?? 0 <= own.count)
        }
        if answer.etag > 0 { since.append(answer.etag) }
        // Nothing of others was changed.
        #expect(await service.ask("GET", theirs, headers: root).text == before.text, "\(attack)")
      }
    }
  }

  private struct Attack {
    var method: String
    var target: String
    var body = ""
    var headers: [String: String] = [:]
  }

  private static func attack(_ random: inout SeededNumbers, key: String, since: Int, _ number: Int) -> Attack
  {
    let filters = [
      "owner=m4rk", "not_owner=ann", "exclude_owner=ann", "has_note=true", "like_note=*", "min_seats=0",
      "in_id=\(key)", "id=\(key)", "exclude_id=x", "_fields=note,owner", "_sort=owner", "_sort=-note",
      "_since=\(since)", "_since=0", "_before=99999999999999", "_limit=1", "gt_last_modified=0", "_token=s0",
      "_token=o0", "_to=99999999999999", "like_id=*", "lt_owner=z",
    ]
    let query = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      filters.randomElement(using: &random) ?? ""
    }
    .joined(separator: "&")
    let conditions: [[String: String]] = [
      [:], ["If-Match": "\"1\""], ["If-None-Match": "*"], ["If-None-Match": "\"\(since)\""],
      ["If-Match": "*"],
    ]
    let headers = conditions.randomElement(using: &random) ?? [:]
    let list = "\(records)?\(query)"
    let bodies = [
      #"{"data":{"owner":"ann"}}"#, #"{"data":{"owner":"x"}}"#, #"{"data":{"id":"\#(key)","owner":"ann"}}"#,
      "{",
    ]
    let body = bodies.randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<9, using: &random) {
    case 0...2: return Attack(method: "GET", target: list, headers: headers)
    case 3: return Attack(method: "HEAD", target: list, headers: headers)
    case 4: return Attack(method: "DELETE", target: list, headers: headers)
    case 5: return Attack(method: "POST", target: records, body: body, headers: headers)
    case 6:
      let method = ["GET", "PUT", "PATCH", "DELETE"].randomElement(using: &random) ?? ""
      return Attack(method: method, target: "\(records)/\(key)", body: body, headers: headers)
    case 7:
      let targets = [
        "/v1/buckets/monitor/collections/changes/records?\(query)", "/v1/buckets",
        "/v1/buckets/b/collections/items/records?\(query)", "/v1/buckets/b/collections/games",
      ]
      return Attack(method: "GET", target: targets.randomElement(using: &random) ?? "")
    default:
      let parts = (0..<4).map { _ in
        let part = attack(&random, key: key, since: since, number)
        let body = part.body.isEmpty || part.body == "{" ? "{}" : part.body
        let headers = part.headers.map { "\"\($0)\":\"\($1.replacing("\"", with: "\\\""))\"" }.joined(
          separator: ",")
        return
          #"{"method":"\#(part.method)","path":"\#(part.target)","body":\#(body),"headers":{\#(headers)}}"#
      }
      return Attack(
        method: "POST", target: "/v1/batch", body: "{\"requests\":[\(parts.joined(separator: ","))]}")
    }
  }
}

/// Numbers that a seed decides.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &+ 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
