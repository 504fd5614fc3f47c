#if CloudKit && os(Linux)
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import HTTPAdapters
  import InMemoryAdapters
  import Synchronization
  import Testing

  @Suite("Zones of private and shared databases", .timeLimit(.minutes(10)))
  struct CloudKitZoneTests {
    private static let types: [RecordType: CloudKitType] = [
      "items": CloudKitType("Item"), "others": CloudKitType("Other"),
    ]

    private func put(_ bench: CloudKitBench, _ name: String, _ value: Int, type: String) {
      bench.clock.advance(by: .milliseconds(1))
      bench.service.put(
        [(name, [("value", StandInField("\(value)", "INT64"))])], type: type, in: bench.place.database,
        zone: bench.place.zone)
    }

    @Test(arguments: [true, false])
    func sendATombstoneToEachTypeWhoseItMayBe(_ hasType: Bool) async throws {
      let bench = try CloudKitBench(.privateZone, types: Self.types) { $0.tombstonesHaveType = hasType }
      for number in 0..<3 {
        put(bench, "i\(number)", number, type: "Item")
        put(bench, "o\(number)", number, type: "Other")
      }
      let mirror = try await CloudKitMirror(bench, [Entity("items"), Entity("others")])
      #expect(try await mirror.engine.sync().total.inserted == 6)
      bench.delete("i1")
      let result = try await mirror.engine.sync()
      #expect(result["items"].deleted == 1)
      #expect(result["others"].deleted == 0 && result["others"].unchanged == (hasType ? 0 : 1))
      for type: RecordType in ["items", "others"] { try mirror.expectEqual(type) }
    }

    @Test func ofSharedDatabasesAreNamedWithTheirOwner() async throws {
      var bench = try CloudKitBench(.privateZone)
      bench.database.scope = .shared
      bench.database.zone = ZoneID(CloudKitBench.zone, owner: "_owner")
      bench.service.makeZone(CloudKitBench.zone, in: "shared")
      for number in 0..<5 { bench.put("k\(number)", number) }
      let mirror = try await CloudKitMirror(bench, pageSize: 2, pushes: true)
      _ = try await mirror.engine.sync()
      try await mirror.edit("k1", 100)
      bench.delete("k2")
      let result = try await mirror.engine.sync()
      #expect(result.failures.isEmpty && result.total.deleted == 1)
      try mirror.expectEqual("items")
      #expect(
        bench.service.rows("Item", in: "shared", zone: CloudKitBench.zone)["k1"]?.tag.hasPrefix("w") == true)
      for entry in bench.service.entries {
        #expect(entry.address.contains("/shared/"))
        #expect(String(decoding: entry.body, as: UTF8.self).contains(#""ownerRecordName":"_owner""#))
      }
    }

    @Test func areAskedOneRequestAtATime() async throws {
      let bench = try CloudKitBench(.privateZone, types: Self.types)
      for number in 0..<40 { put(bench, "k\(number)", number, type: number % 2 == 0 ? "Item" : "Other") }
      let slow = SlowTransport(base: bench.service)
      let mirror = try await CloudKitMirror(
        bench, [Entity("items"), Entity("others")], pageSize: 3, transport: slow)
      #expect(try await mirror.engine.sync().failures.isEmpty)
      #expect(slow.most == 1 && bench.service.entries.allSatisfy { $0.status == 200 })
      for type: RecordType in ["items", "others"] { try mirror.expectEqual(type) }
    }

    @Test func useNoAnswerWhoseNextTokenWasNotKept() async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.put("k", 1)
      let keeper = FullKeeper()
      let source = try CloudKitSource(
        bench.database, access: .user(apiToken: "api+token/=", token: keeper), types: bench.types,
        transport: bench.service, clock: bench.clock)
      let start = PageRequest(entity: Entity("items"), position: .start(since: nil), limit: 5, pass: 1)
      let error = await #expect(throws: SyncError.self) { _ = try await source.page(start) }
      #expect(error?.code == .storeFull)
      #expect(keeper.offered.withLock { $0 } == [bench.service.webToken])
    }

    @Test(arguments: ["two words", "a\u{7}b", "é"])
    func acceptNoTokenThatIsNone(_ token: String) async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.put("k", 1)
      let mirror = try await CloudKitMirror(
        bench, transport: TokenTransport(base: bench.service, token: token), retry: RetryPolicy(attempts: 1))
      let error = await #expect(throws: SyncError.self) { _ = try await mirror.engine.sync() }
      #expect(error?.code == .invalidResponse && error?.description.contains(token) == false)
      #expect(mirror.payloads("items").isEmpty)
    }

    @Test func keepTheDataAndEditsOfTheirUserFromAnotherOne() async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.put("k", 1)
      let mirror = try await CloudKitMirror(bench, pushes: true)
      _ = try await mirror.engine.sync()
      try await mirror.engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "items", key: "k")) { $0["value"] = Array("2".utf8)[...] }
      }
      // The tokens of one process are a chain, which no other user enters.
      bench.service.user = "_user2"
      let source = try CloudKitSource(
        bench.database, access: bench.access, types: bench.types, transport: bench.service, clock: bench.clock
      )
      let second = try await SyncEngine(
        schema: SyncSchema([Entity("items")]), store: mirror.store, source: source,
        sink: CloudKitSink(source), clock: bench.clock)
      bench.service.forgetEntries()
      let error = await #expect(throws: SyncError.self) { _ = try await second.sync() }
      #expect(error?.code == .otherAccount && bench.service.entries.isEmpty)
      bench.service.user = "_user1"
      let third = try await CloudKitSource(
        bench.database, access: bench.access, types: bench.types, transport: bench.service, clock: bench.clock
      ).account()
      #expect(third == .named("_user1"))
      _ = try await mirror.engine.sync()
      #expect(mirror.payloads("items")["k"]?.contains("\"value\":2") == true)
    }

    /// A user may delete the zone, and the app makes it again.
    @Test(arguments: [false, true])
    func thatAreMadeAgainTakeNothingAwayAndMayGetTheRecordsAgain(_ isSeenMissing: Bool) async throws {
      let bench = try CloudKitBench(.privateZone)
      for number in 0..<3 { bench.put("k\(number)", number) }
      let mirror = try await CloudKitMirror(bench, pushes: true)
      _ = try await mirror.engine.sync()
      let before = mirror.payloads("items")
      bench.service.removeZone(CloudKitBench.zone)
      if isSeenMissing {
        let result = try await mirror.engine.sync()
        #expect(result.failures.map(\.error.code) == [.invalidConfiguration])
      }
      bench.service.makeZone(CloudKitBench.zone)
      for _ in 1...3 {
        let result = try await mirror.engine.sync()
        #expect(result.refusedSweeps.map(\.refusal) == [.massDeletion(missing: 3, of: 3)])
        #expect(mirror.payloads("items") == before)
      }
      #expect(try await mirror.engine.edits.sendAgain("items") == 3)
      let result = try await mirror.engine.sync()
      #expect(result.refusedSweeps.isEmpty)
      #expect(try mirror.wanted("items").count == 3)
      try mirror.expectEqual("items")
      #expect(try await mirror.engine.edits.sendAgain("items") == 0)
      // Once it is asked for, everything goes.
      bench.service.removeZone(CloudKitBench.zone)
      bench.service.makeZone(CloudKitBench.zone)
      _ = try await mirror.engine.sync(SyncRequest(allowsMassDeletion: true))
      #expect(mirror.payloads("items").isEmpty)
    }

    /// Neither the next token nor a date: the present one stays in use.
    @Test func readAnswersWithoutHeaders() async throws {
      let bench = try CloudKitBench(.privateZone) {
        $0.tokensAreForOneTrip = false
        $0.tellsDate = false
      }
      for number in 0..<5 { bench.put("k\(number)", number) }
      let mirror = try await CloudKitMirror(bench, pageSize: 2)
      #expect(try await mirror.engine.sync().total.inserted == 5)
      bench.delete("k1")
      #expect(try await mirror.engine.sync().total.deleted == 1)
      try mirror.expectEqual("items")
    }
  }

  /// Lets others run before and after each request, and counts those under way.
  private final class SlowTransport: HTTPTransport {
    private let base: StandInCloudKit
    private let state = Mutex((now: 0, most: 0))
    init(base: StandInCloudKit) { self.base = base }

    /// The most requests at a time.
    var most: Int { state.withLock { $0.most } }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      state.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
      defer { state.withLock { $0.now -= 1 } }
      for _ in 0..<20 { await Task.yield() }
      let response = try await base.send(request)
      for _ in 0..<20 { await Task.yield() }
      return response
    }
  }

  /// Replaces the next web auth token of every answer.
  private struct TokenTransport: HTTPTransport {
    let base: StandInCloudKit
    let token: String

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      var response = try await base.send(request)
      response.headers["X-Apple-CloudKit-Web-Auth-Token"] = token
      return response
    }
  }

  /// A keeper without room for another token.
  private final class FullKeeper: WebAuthTokenKeeper {
    let offered = Mutex<[String]>([])
    func current() -> String { "first+/=" }
    func keep(_ token: String) throws(SyncError) {
      offered.withLock { $0.append(token) }
      throw SyncError(.storeFull, during: "keeping a token", "The disk is full.")
    }
  }
#endif
