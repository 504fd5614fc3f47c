#if CloudKit && os(Linux)
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import HTTPAdapters
  import InMemoryAdapters
  import Testing

  /// Errors inside an answer of 200, each in the place of what it concerns.
  @Suite("Errors inside CloudKit's good answers", .timeLimit(.minutes(10)))
  struct ErrorsInPlaceTests {
    /// A mirror of nine records, with what changed since at the service.
    private func mirror(
      _ kind: CloudKitBench.Kind, pushes: Bool = false, _ faults: [StandInCloudKit.Fault] = []
    ) async throws -> CloudKitMirror {
      let bench = try CloudKitBench(kind)
      for number in 0..<9 { bench.put("k\(number)", number) }
      let mirror = try await CloudKitMirror(bench, pushes: pushes, retry: RetryPolicy(attempts: 1))
      // The second sync's token is behind the time that the next delta lists again.
      for _ in 0..<2 {
        #expect(try await mirror.engine.sync().failures.isEmpty)
        bench.clock.advance(by: .seconds(300))
      }
      bench.service.forgetEntries()
      bench.service.script(faults)
      return mirror
    }

    /// The error of the next sync.
    private func failure(_ mirror: CloudKitMirror) async throws -> SyncError? {
      do throws(SyncError) {
        return try await mirror.engine.sync().failures.first?.error
      } catch {
        return error
      }
    }

    @Test(arguments: [
      ("INTERNAL_ERROR", SyncError.Code.remoteUnavailable), ("ACCESS_DENIED", .permissionDenied),
      ("AUTHENTICATION_REQUIRED", .authentication), ("QUOTA_EXCEEDED", .quotaExceeded),
      ("ZONE_NOT_FOUND", .invalidConfiguration), ("SOMETHING_NEW", .invalidResponse),
    ])
    func inAZonesPlaceFailTheTypeAndLoseNothing(_ code: String, _ expected: SyncError.Code) async throws {
      let bench = try CloudKitBench(.privateZone)
      bench.put("k", 1)
      bench.service.script([.errorInZone(code)])
      let mirror = try await CloudKitMirror(bench, retry: RetryPolicy(attempts: 1))
      #expect(try await failure(mirror)?.code == expected)
      #expect(mirror.payloads("items").isEmpty)
      #expect(try await mirror.engine.sync().total.inserted == 1)
      // Later, the token stays as well.
      guard expected != .invalidConfiguration else { return }
      bench.put("k", 2)
      bench.service.script([.errorInZone(code)])
      #expect(try await failure(mirror)?.code == expected)
      let result = try await mirror.engine.sync()
      #expect(result.failures.isEmpty && result.total.fetched == 1 && result.total.updated == 1)
      try mirror.expectEqual("items")
    }

    @Test func inAZonesPlaceCloseTheDatabaseWhenTheyAskForAPause() async throws {
      let mirror = try await mirror(.privateZone, [.errorInZone("THROTTLED", pause: 40)])
      mirror.bench.put("k1", 100)
      #expect(try await failure(mirror)?.retryAfter != nil)
      let other = mirror.bench.types.keys.map { RecordID(type: $0, key: "k1") }
      // Neither do lookups go out.
      await #expect(throws: SyncError.self) {
        _ = try await mirror.source.lookup(other, of: Entity("items"))
      }
      #expect(mirror.bench.service.entries.count == 1)
      mirror.bench.clock.advance(by: .seconds(41))
      #expect(try await mirror.engine.sync().total.updated == 1)
      #expect(mirror.bench.service.violation == nil)
    }

    @Test(arguments: CloudKitBench.Kind.allCases)
    func inARecordsPlaceAreKeptWithTheirReasonUntilTheRecordComes(_ kind: CloudKitBench.Kind) async throws {
      let mirror = try await mirror(kind, [.errorInPlace(), .errorInPlace()])
      mirror.bench.put("k1", 100)
      var result = try await mirror.engine.sync()
      #expect(result.failures.isEmpty && result.total.quarantined == 1)
      let entries = try await mirror.store.read { (snapshot) throws(SyncError) in
        try snapshot.withheld(for: [.record(RecordID(type: "items", key: "k1"))])
      }
      #expect(entries.count == 1 && "\(entries)".contains("INTERNAL_ERROR"))
      #expect(mirror.payloads("items")["k1"]?.contains("\"value\":100") == false, "The copy stays.")
      // The next listing of keys asks again.
      mirror.bench.clock.advance(by: .seconds(25 * 3600))
      result = try await mirror.engine.sync()
      #expect(result.failures.isEmpty)
      try mirror.expectEqual("items")
      #expect(mirror.bench.service.entries.contains { $0.operation == "records/lookup" })
    }

    @Test(arguments: CloudKitBench.Kind.allCases)
    func inAListingOfKeysAreNotTakenForAnAbsence(_ kind: CloudKitBench.Kind) async throws {
      let bench = try CloudKitBench(kind) { $0.tokensAreForOneTrip = false }
      for number in 0..<3 { bench.put("k\(number)", number) }
      bench.clock.advance(by: .seconds(300))
      let source = try bench.source()
      func page(_ position: PullPosition) async throws -> RecordPage {
        try await source.page(
          PageRequest(entity: Entity("items"), position: position, limit: 9, pass: 1))
      }
      let first = try await page(.start(since: nil))
      bench.clock.advance(by: .seconds(25 * 3600))
      guard case .done(let end) = first.next,
        case .more(let keys, _) = try await page(.start(since: first.startToken ?? end)).next
      else {
        Issue.record("No listing of the keys follows.")
        return
      }
      let nested = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
      let records = #"""
        [{"recordName":"k0","recordType":"Item","created":\#(nested)},{"recordName":"k1","recordType":"Item"},
        {"recordName":"k2","serverErrorCode":"INTERNAL_ERROR"}]
        """#
      bench.service.script([
        .answer(
          kind == .publicDatabase
            ? #"{"records":\#(records)}"# : #"{"zones":[{"syncToken":"end","records":\#(records)}]}"#)
      ])
      let listed = try await page(.resume(keys))
      #expect(listed.present.isEmpty && listed.changes.count == 3)
      let malformed = listed.changes.compactMap { change in
        if case .malformed(let malformed) = change { malformed.key ?? "" } else { String?.none }
      }
      #expect(malformed.sorted() == ["", "k1"])
      // An error in a record's place is looked up.
      #expect(
        listed.changes.contains { if case .upsert(let copy) = $0 { copy.id.key == "k2" } else { false } })
    }

    @Test(arguments: CloudKitBench.Kind.allCases)
    func inARecordsPlaceMayAskForAPause(_ kind: CloudKitBench.Kind) async throws {
      let mirror = try await mirror(kind, [.errorInPlace("THROTTLED", pause: 40)])
      mirror.bench.put("k1", 100)
      #expect(try await failure(mirror)?.retryAfter != nil)
      #expect(mirror.bench.service.entries.count == 1)
      mirror.bench.clock.advance(by: .seconds(41))
      #expect(try await mirror.engine.sync().failures.isEmpty)
      try mirror.expectEqual("items")
      #expect(mirror.bench.service.violation == nil)
    }

    /// A listing of keys lacks a record, and its lookup fails.
    @Test func inALookupRemoveNothing() async throws {
      let mirror = try await mirror(.publicDatabase)
      mirror.bench.clock.advance(by: .seconds(25 * 3600))
      mirror.bench.delete("k3")
      // The delta, the keys, and the lookup of the missing one.
      mirror.bench.service.script([.nothing, .nothing, .errorInPlace("SOMETHING_NEW")])
      #expect(try await mirror.engine.sync().total.deleted == 0)
      #expect(mirror.bench.service.entries.map(\.operation).last == "records/lookup")
      mirror.bench.clock.advance(by: .seconds(25 * 3600))
      #expect(try await mirror.engine.sync().total.deleted == 1)
      try mirror.expectEqual("items")
    }

    @Test(
      arguments: [
        ("INTERNAL_ERROR", nil), ("THROTTLED", 40), ("TRY_AGAIN_LATER", 40), ("ACCESS_DENIED", nil),
        ("SOMETHING_NEW", nil), ("VALIDATING_REFERENCE_ERROR", nil),
      ], CloudKitBench.Kind.allCases)
    func inAnEditsPlaceAreThatEditsOwn(
      _ error: (code: String, pause: Int?), _ kind: CloudKitBench.Kind
    ) async throws {
      // A refused edit is sent once more after the updates beside it.
      let isRefusal = error.pause == nil && error.code != "INTERNAL_ERROR"
      let mirror = try await mirror(
        kind, pushes: true,
        Array(repeating: .errorInPlace(error.code, pause: error.pause), count: isRefusal ? 2 : 1))
      for number in 0..<3 { try await mirror.edit("k\(number)", 100 + number) }
      _ = try await mirror.engine.push()
      let waiting = try await mirror.engine.edits.waiting("items")
      #expect(waiting.count == 1, "\(waiting)")
      let place = mirror.bench.place
      let rows = mirror.bench.service.rows("Item", in: place.database, zone: place.zone)
      let values = rows.values.flatMap(\.fields).compactMap { Int($0.field.value) }
      #expect(values.count { $0 >= 100 } == 2)
      let pushes = mirror.bench.service.entries.count
      if error.pause != nil {
        _ = try? await mirror.engine.push()
        #expect(mirror.bench.service.entries.count == pushes, "Nothing was sent during the pause.")
      }
      // Refusals wait for the next edit of the record, the others for time.
      mirror.bench.clock.advance(by: .seconds(3600))
      if let id = waiting.first?.entry.id { try await mirror.edit(id.key, 200) }
      _ = try await mirror.engine.push()
      #expect(try await mirror.engine.edits.pending("items").isEmpty)
      try mirror.expectEqual("items")
      #expect(mirror.bench.service.violation == nil)
    }
  }
#endif
