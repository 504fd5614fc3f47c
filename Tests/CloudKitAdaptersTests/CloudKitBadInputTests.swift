#if CloudKit && os(Linux)
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import Foundation
  import HTTPAdapters
  import InMemoryAdapters
  import Testing

  @Suite("Bad input from CloudKit and from its users", .timeLimit(.minutes(10)))
  struct CloudKitBadInputTests {
    private func failure(
      _ bench: CloudKitBench, _ faults: [StandInCloudKit.Fault] = [], retry: Int = 1
    ) async throws -> SyncError? {
      bench.service.script(faults)
      let mirror = try await CloudKitMirror(bench, retry: RetryPolicy(attempts: retry))
      do throws(SyncError) {
        let result = try await mirror.engine.sync()
        return result.failures.first?.error
      } catch {
        return error
      }
    }

    @Test func aStuckTokenIsAnError() async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.put("k", 1)
      let error = try await failure(bench, [.stuckToken])
      #expect(error?.code == .inconsistentData, "\(String(describing: error))")
      #expect(error?.message.contains("same continuation") == true)
    }

    @Test func emptyPagesThatLeadNowhereAreAnError() async throws {
      let bench = try CloudKitBench(.publicDatabase)
      let answer = StandInCloudKit.Fault.answer(#"{"records":[],"continuationMarker":"same"}"#)
      let error = try await failure(bench, [answer, answer, answer])
      #expect(error?.code == .inconsistentData)
    }

    @Test func aRefusedTokenAsksForASignIn() async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.service.webToken = "another"
      for _ in 0..<2 {
        let error = try await failure(bench, retry: 3)
        #expect(error?.code == .authentication)
        #expect((error?.underlying as? SignInRequired)?.page?.hasPrefix("https://") == true)
        for secret in bench.secrets { #expect(error?.description.contains(secret) != true) }
      }
      #expect(bench.service.entries.count == 2, "A refused token is not tried again.")
    }

    @Test func anExpiredTokenLeadsToAFullPassWithTheOutboxKept() async throws {
      for seed in 0..<4 as Range<UInt64> {
        let bench = try CloudKitBench(.privateZone) { $0.seed = seed }
        for number in 0..<9 { bench.put("k\(number)", number) }
        let mirror = try await CloudKitMirror(bench, pageSize: 4)
        _ = try await mirror.engine.sync()
        try await mirror.edit("k1", 100)
        bench.delete("k5")
        bench.service.expireTokens()
        let result = try await mirror.engine.sync()
        #expect(result.failures.isEmpty && result.total.deleted == 1)
        #expect(try await mirror.engine.edits.pending("items").count == 1)
      }
    }

    @Test func aZoneThatIsGoneIsNamedAndTheRecordsStay() async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.put("k", 1)
      let mirror = try await CloudKitMirror(bench)
      _ = try await mirror.engine.sync()
      bench.service.removeZone(CloudKitBench.zone)
      let error = try await mirror.engine.sync().failures.first?.error
      #expect(error?.code == .invalidConfiguration && error?.message.contains("zone Games") == true)
      #expect(mirror.payloads("items").count == 1)
      bench.service.makeZone(CloudKitBench.zone)
      bench.put("new", 2)
      #expect(try await mirror.engine.sync().failures.isEmpty)
      try mirror.expectEqual("items")
    }

    @Test func aSchemaWithoutTheIndexIsASetUpErrorThatNamesIt() async throws {
      for words in ["queryable", "sortable"] {
        let bench = try CloudKitBench(.publicDatabase) {
          if words == "queryable" { $0.queryable = [] } else { $0.sortable = [] }
        }
        let error = try await failure(bench, retry: 3)
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("___modTime") == true && error?.message.contains(words) == true)
        #expect(error?.message.contains("Item") == true)
        #expect(bench.service.entries.count == 1)
      }
    }

    @Test(arguments: [20, -20]) func aClockThatIsOffIsTold(_ minutes: Int) async throws {
      let bench = try CloudKitBench(.publicDatabase)
      let service = bench.service
      let off = ManualClock(timestamp: bench.clock.timestamp + .seconds(60 * minutes))
      let source = try CloudKitSource(
        bench.database, access: bench.access, types: bench.types, transport: service, clock: off)
      let error = await #expect(throws: SyncError.self) {
        _ = try await source.page(
          PageRequest(entity: Entity("items"), position: .start(since: nil), limit: 5, pass: 1))
      }
      #expect(error?.code == .authentication)
      #expect(error?.message.contains("20 minutes \(minutes > 0 ? "ahead" : "behind")") == true)
    }

    @Test func answersThatAreNoneAreErrors() async throws {
      let cases: [(StandInCloudKit.Fault, SyncError.Code)] = [
        (.garbage, .invalidResponse), (.redirect, .invalidResponse), (.proxyPage, .remoteUnavailable),
        (.internalError, .remoteUnavailable), (.unknownCode, .invalidResponse),
        (.answer("[]"), .invalidResponse), (.answer("{}"), .invalidResponse),
        (.answer(#"{"records":{}}"#), .invalidResponse), (.answer(""), .invalidResponse),
        (.answer("<html><body>Sign in to the network</body></html>"), .invalidResponse),
      ]
      for kind in CloudKitBench.Kind.allCases {
        for (fault, code) in cases {
          let bench = try CloudKitBench(kind)
          let error = try await failure(bench, [fault])
          #expect(error?.code == code, "\(fault)")
          for secret in bench.secrets { #expect(error?.description.contains(secret) != true) }
        }
      }
    }

    @Test func anUndatedAnswerStartsNoDelta() async throws {
      let bench = try CloudKitBench(.publicDatabase) { $0.tellsDate = false }
      let error = try await failure(bench)
      #expect(error?.code == .invalidResponse && error?.message.contains("Date") == true)
    }

    @Test func garbageFieldsAreKeptBesideTheOthers() async throws {
      for kind in CloudKitBench.Kind.allCases {
        let bench = try CloudKitBench(kind)
        let garbage = (0..<5000).map { number -> (name: String, field: StandInField) in
          let values = ["1", "\"x\"", "[]", "{\"a\":[1]}", "null", "true", "1e400", "[null,{}]"]
          return ("f\(number)", StandInField(values[number % values.count], "TYPE\(number % 50)"))
        }
        bench.service.put([("odd", garbage)], type: "Item", in: bench.place.database, zone: bench.place.zone)
        bench.put("plain", 1)
        let large = [("text", StandInField("\"\(String(repeating: "x", count: 1_000_000))\"", "STRING"))]
        bench.service.put([("large", large)], type: "Item", in: bench.place.database, zone: bench.place.zone)
        let mirror = try await CloudKitMirror(bench)
        #expect(try await mirror.engine.sync().failures.isEmpty)
        try mirror.expectEqual("items")
        #expect(mirror.payloads("items").count == 3)
      }
    }

    @Test func anExpiredMarkerStartsThePassOver() async throws {
      let bench = try CloudKitBench(.publicDatabase)
      for number in 0..<20 { bench.put("k\(number)", number) }
      let source = try bench.source()
      func page(_ position: PullPosition) async throws -> RecordPage {
        try await source.page(
          PageRequest(entity: Entity("items"), position: position, limit: 5, pass: 1))
      }
      // Just written: only a marker leads on.
      guard case .more(let token, resumable: false) = try await page(.start(since: nil)).next else {
        Issue.record("The first page is not the last, and cannot be resumed.")
        return
      }
      bench.service.expireTokens()
      #expect(try await page(.resume(token)).next == .reset(.pageTokenExpired))
      bench.clock.advance(by: .seconds(180))
      guard case .more(_, resumable: true) = try await page(.start(since: nil)).next else {
        Issue.record("Settled records are listed by their times.")
        return
      }
    }

    @Test func settingsThatCannotWorkAreRefused() throws {
      let bench = try CloudKitBench(.publicDatabase)
      let user = CloudKitAccess.user(apiToken: "a", token: TokenInMemory("b"))
      func refusal(
        _ access: CloudKitAccess? = nil, _ type: CloudKitType = CloudKitType("Item"),
        _ change: (inout CloudKitDatabase) -> Void = { _ in }
      ) -> SyncError? {
        var database = bench.database
        change(&database)
        do {
          _ = try CloudKitSource(
            database, access: access ?? bench.access, types: ["items": type], transport: bench.service)
          return nil
        } catch {
          return error
        }
      }
      #expect(refusal() == nil)
      #expect(refusal { $0.container = "a/../b" }?.message.contains("container") == true)
      #expect(refusal { $0.endpoint = "http://example.com" }?.message.contains("not encrypted") == true)
      #expect(refusal { $0.endpoint = "http://127.0.0.1:8080" } == nil)
      #expect(refusal { $0.scope = .private }?.message.contains("zone") == true)
      #expect(
        refusal {
          $0.scope = .private
          $0.zone = ZoneID("Z")
        }?.message.contains("server-to-server") == true)
      #expect(
        refusal(user) {
          $0.scope = .private
          $0.zone = ZoneID("Z")
        } == nil)
      #expect(
        refusal(user) {
          $0.scope = .shared
          $0.zone = ZoneID("Z")
        }?.message.contains("owner") == true)
      #expect(refusal { $0.zone = ZoneID("Z") }?.message.contains("default zone") == true)
      var type = CloudKitType("Item")
      type.overlap = .zero
      #expect(refusal(nil, type)?.message.contains("overlap") == true)
      type = CloudKitType("")
      #expect(refusal(nil, type)?.message.contains("name") == true)
      type = CloudKitType("Item")
      type.deleted = "___x"
      #expect(refusal(nil, type)?.message.contains("___x") == true)
      type.deleted = nil
      type.fields = ["a": FieldType(rawValue: "TEXT")]
      #expect(refusal(nil, type)?.message.contains("TEXT") == true)
    }
  }

  @Suite("A web auth token in a file") struct TokenFileTests {
    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appending(path: "token").path
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      try body(path)
    }

    @Test func isReplacedWholeAndReadableByItsOwnerAlone() throws {
      try withFile("first\n") { path in
        let file = try TokenFile(path: path)
        #expect(file.current() == "first")
        try file.keep("second+/=")
        #expect(file.current() == "second+/=")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "second+/=\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(!FileManager.default.fileExists(atPath: "\(path).next"))
      }
    }

    @Test func belongsToOneAtATime() throws {
      try withFile("first") { path in
        do {
          let file = try TokenFile(path: path)
          let error = #expect(throws: SyncError.self) { _ = try TokenFile(path: path) }
          #expect(error?.code == .storeBusy && error?.description.contains("first") == false)
          try file.keep("second")
        }
        #expect(try TokenFile(path: path).current() == "second")
      }
    }

    @Test(arguments: ["", " \n", "two words", "é"]) func holdsAToken(_ text: String) throws {
      try withFile(text) { path in
        let error = #expect(throws: SyncError.self) { _ = try TokenFile(path: path) }
        #expect(error?.code == .invalidConfiguration)
      }
    }

    @Test func whoseFolderIsGoneTellsThatTheTokenIsLost() throws {
      try withFile("first") { path in
        let file = try TokenFile(path: path)
        try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
        let error = #expect(throws: SyncError.self) { try file.keep("second") }
        #expect(error?.code == .storeFailure && error?.description.contains("second") == false)
      }
    }
  }
#endif
