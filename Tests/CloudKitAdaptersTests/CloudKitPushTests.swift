#if CloudKit && os(Linux)
  @testable import CloudKitAdapters
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestServers
  import InMemoryAdapters
  import SyncJSON
  import Testing

  extension CloudKitMirror {
    /// Edits a record's number in the store, or makes the record; `nil` deletes it.
    func edit(_ key: String, _ value: Int?, _ type: RecordType = "items") async throws {
      let id = RecordID(type: type, key: key)
      try await engine.edits.perform { (batch) throws(SyncError) in
        guard let value else { return try batch.delete(id) }
        try batch.set(id) { (fields) throws(SyncError) in fields["value"] = Array("\(value)".utf8)[...] }
      }
    }
  }

  @Suite("Edits pushed to CloudKit", .timeLimit(.minutes(10))) struct CloudKitPushTests {
    @Test(arguments: 1...UInt64(Seeds.isSoak ? 100 : 10), CloudKitBench.Kind.allCases)
    func twoMirrorsAndAnEditorConverge(_ seed: UInt64, _ kind: CloudKitBench.Kind) async throws {
      var random = SplitMix64(seed: seed)
      var type = CloudKitType("Item")
      type.sweepEvery = .seconds(300)
      let bench = try CloudKitBench(kind, types: ["items": type]) {
        $0.seed = seed
        $0.indexLag = .seconds(20)
        $0.tokensAreForOneTrip = false
      }
      for number in 0..<30 { bench.put("k\(number)", number) }
      let mirrors = [
        try await CloudKitMirror(bench, pageSize: 7, pushes: true),
        try await CloudKitMirror(bench, pageSize: 50, pushes: true),
      ]
      for mirror in mirrors { _ = try await mirror.engine.sync() }
      for _ in 0..<12 {
        for _ in 0..<5 {
          bench.clock.advance(by: .seconds(Int.random(in: 0...20, using: &random)))
          let key = "k\(Int.random(in: 0..<40, using: &random))"
          let value = Bool.random(using: &random) ? Int.random(in: 100...999, using: &random) : nil
          switch Int.random(in: 0..<3, using: &random) {
          case 0:
            if let value { bench.put(key, value) } else { bench.delete(key) }
          case let place: try await mirrors[place - 1].edit(key, value)
          }
        }
        _ = try await mirrors.randomElement(using: &random)?.engine.sync()
      }
      for _ in 0..<3 {
        for mirror in mirrors {
          bench.clock.advance(by: .seconds(400))
          let result = try await mirror.engine.sync()
          #expect(result.failures.isEmpty && result.refusedSweeps.isEmpty)
        }
      }
      for mirror in mirrors {
        try mirror.expectEqual("items", "seed \(seed)")
        #expect(try await mirror.engine.edits.pending("items").isEmpty)
      }
      #expect(bench.service.violation == nil)
    }

    @Test(arguments: CloudKitBench.Kind.allCases)
    func aStaleTagEndsAsALoggedConflict(_ kind: CloudKitBench.Kind) async throws {
      let bench = try CloudKitBench(kind)
      bench.put("k1", 1)
      let mirror = try await CloudKitMirror(bench, pushes: true)
      _ = try await mirror.engine.sync()
      bench.clock.advance(by: .seconds(10))
      try await mirror.edit("k1", 111)
      bench.put("k1", 222)
      _ = try await mirror.engine.sync()
      let conflicts = try await mirror.engine.edits.conflicts()
      #expect(conflicts.count == 1)
      #expect(mirror.payloads("items")["k1"]?.contains("\"value\":111") == true, "It arrives later.")
      try mirror.expectEqual("items")
    }

    /// The kinds of edits whose answer may be lost.
    enum LostEdit: CaseIterable, Sendable {
      case creation, update, deletion

      var change: (key: String, value: Int?) {
        switch self {
        case .creation: ("new", 100)
        case .update: ("k1", 100)
        case .deletion: ("k1", nil)
        }
      }
    }

    @Test(arguments: LostEdit.allCases, CloudKitBench.Kind.allCases)
    func anEditWhoseAnswerIsLostHasOneEffect(_ edit: LostEdit, _ kind: CloudKitBench.Kind) async throws {
      for isMet in [false, true] {
        let bench = try CloudKitBench(kind)
        for number in 0..<3 { bench.put("k\(number)", number) }
        let mirror = try await CloudKitMirror(bench, pushes: true, retry: RetryPolicy(attempts: 1))
        _ = try await mirror.engine.sync()
        bench.clock.advance(by: .seconds(1))
        let (key, value) = edit.change
        try await mirror.edit(key, value)
        bench.service.script([.lostAnswer])
        await #expect(throws: SyncError.self) { _ = try await mirror.engine.push() }
        #expect(try await mirror.engine.edits.pending("items").count == 1, "Nothing is known here.")
        func tags() -> [String: String] {
          bench.service.rows("Item", in: bench.place.database, zone: bench.place.zone).mapValues(\.tag)
        }
        let effect = tags()
        #expect(effect.count == 3 + (edit == .creation ? 1 : edit == .deletion ? -1 : 0))
        #expect(effect[key]?.hasPrefix("w") ?? (edit == .deletion), "It had its effect.")
        bench.clock.advance(by: .seconds(100))
        if isMet { bench.put(key, 300) }

        let result = try await mirror.engine.push()
        #expect(try await mirror.engine.edits.pending("items").isEmpty)
        let conflicts = try await mirror.engine.edits.conflicts()
        if isMet {
          #expect(conflicts.map(\.id.key) == [key], "Another content is no acknowledgement.")
        } else {
          #expect(conflicts.isEmpty && tags() == effect, "The second attempt changed nothing.")
          // What is gone says nothing: no record tells who deleted it.
          if edit != .deletion { #expect(result.pushed.accepted == 1, "\(result.pushed)") }
        }
        bench.clock.advance(by: .seconds(25 * 3600))
        #expect(try await mirror.engine.sync().failures.isEmpty)
        try mirror.expectEqual("items")
        #expect(bench.service.violation == nil)
      }
    }

    @Test(arguments: CloudKitBench.Kind.allCases)
    func aChangeThatIsSentAgainIsAccepted(_ kind: CloudKitBench.Kind) async throws {
      let bench = try CloudKitBench(kind)
      let sink = CloudKitSink(try bench.source())
      let schema = try SyncSchema([Entity("items")])
      let content = { (value: Int) in
        Edit.Content.upsert(Payload(Array(#"{"value":\#(value)}"#.utf8)), schemaVersion: 1)
      }
      let creation = OutgoingChange(
        id: RecordID(type: "items", key: "new"), content: content(1), base: .none,
        key: IdempotencyKey("creation"), stamp: EditStamp(physical: bench.clock.timestamp))
      var copies: [Record] = []
      for _ in 0..<2 {
        let outcomes = try await sink.push([creation], entities: schema)
        guard case .accepted(.upsert(let copy))? = outcomes.first else {
          Issue.record("\(outcomes)")
          return
        }
        copies.append(copy)
      }
      #expect(copies[0] == copies[1])
      let update = OutgoingChange(
        id: creation.id, content: content(2), base: .copy(copies[0]), key: IdempotencyKey("update"),
        stamp: EditStamp(physical: bench.clock.timestamp))
      for _ in 0..<2 {
        let outcomes = try await sink.push([update], entities: schema)
        guard case .accepted(.upsert)? = outcomes.first else {
          Issue.record("\(outcomes)")
          return
        }
      }
      // Another client's content is no acknowledgement.
      bench.put("new", 3)
      let met = try await sink.push([update], entities: schema)
      guard case .conflict? = met.first else {
        Issue.record("\(met)")
        return
      }
      #expect(bench.service.violation == nil)
    }

    @Test func anAppsOwnFieldMarksDeletedRecords() async throws {
      var type = CloudKitType("Item")
      type.deleted = "isDeleted"
      type.sweepEvery = nil
      let bench = try CloudKitBench(.publicDatabase, types: ["items": type])
      for number in 0..<3 { bench.put("k\(number)", number) }
      let mirrors = [
        try await CloudKitMirror(bench, pushes: true), try await CloudKitMirror(bench, pushes: true),
      ]
      for mirror in mirrors { _ = try await mirror.engine.sync() }
      try await mirrors[0].edit("k1", nil)
      for mirror in mirrors { _ = try await mirror.engine.sync() }
      for mirror in mirrors { #expect(Set(mirror.payloads("items").keys) == ["k0", "k2"]) }
      #expect(bench.service.rows("Item")["k1"]?.fields.contains { $0.name == "isDeleted" } == true)
      // Made again later, it is the same record without the mark.
      bench.clock.advance(by: .seconds(1))
      try await mirrors[1].edit("k1", 100)
      bench.clock.advance(by: .seconds(1))
      for mirror in mirrors.reversed() { _ = try await mirror.engine.sync() }
      for mirror in mirrors { try mirror.expectEqual("items") }
    }

    @Test func recordsThatReferToEachOtherGoTogetherInAZone() async throws {
      let entity = Entity("items", references: [.to("items", by: "parent", ordered: false)])
      let bench = try CloudKitBench(.privateZone)
      bench.put("taken", 1)
      let mirror = try await CloudKitMirror(bench, [entity], pushes: true)
      try await mirror.engine.edits.perform { (batch) throws(SyncError) in
        for (key, parent) in [("a", "b"), ("b", "a"), ("taken", "a"), ("free", "")] {
          try batch.set(RecordID(type: "items", key: key)) { (fields) throws(SyncError) in
            fields["parent"] = parent.isEmpty ? nil : JSONString.quoted(parent)[...]
            fields["value"] = Array("5".utf8)[...]
          }
        }
      }
      // Not pulled yet: one of the group meets an existing record.
      _ = try await mirror.engine.push()
      let bodies = bench.service.entries.filter { $0.operation == "records/modify" }
        .map { String(decoding: $0.body, as: UTF8.self) }
      #expect(bodies.contains { $0.contains("\"atomic\":true") && !$0.contains("\"free\"") })
      #expect(bodies.contains { $0.contains("\"atomic\":false") && $0.contains("\"free\"") })
      bench.clock.advance(by: .seconds(90_000))
      for _ in 0..<2 { _ = try await mirror.engine.sync() }
      #expect(try await mirror.engine.edits.pending("items").isEmpty)
      try mirror.expectEqual("items")
      #expect(mirror.payloads("items").count == 4)
    }

    @Test func quotaAndRefusalsAreEachEditsOwn() async throws {
      let bench = try CloudKitBench(.publicDatabase) { $0.quota = 400 }
      bench.put("k1", 1)
      let mirror = try await CloudKitMirror(bench, pushes: true)
      _ = try await mirror.engine.sync()
      try await mirror.edit("_name", 1)
      try await mirror.engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "items", key: "object")) { (fields) throws(SyncError) in
          fields["where"] = Array(#"{"a":1}"#.utf8)[...]
        }
        try batch.set(RecordID(type: "items", key: "large")) { (fields) throws(SyncError) in
          fields["text"] = JSONString.quoted(String(repeating: "x", count: 1_000_001))[...]
        }
        try batch.set(RecordID(type: "items", key: "full")) { (fields) throws(SyncError) in
          fields["text"] = JSONString.quoted(String(repeating: "x", count: 500))[...]
        }
      }
      try await mirror.edit("k1", 2)
      _ = try await mirror.engine.sync()
      let waiting = try await mirror.engine.edits.waiting("items")
      let reasons = waiting.map { "\($0)" }.joined(separator: "\n")
      #expect(waiting.count == 4, "\(reasons)")
      for words in ["underscore", "\\\"where\\\" is an object", "a megabyte"] {
        #expect(reasons.contains(words), "\(reasons)")
      }
      #expect(bench.service.rows("Item")["k1"]?.fields.first?.field.value == "2")
    }
  }
#endif
