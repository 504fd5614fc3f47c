#if CloudKit && os(Linux)
  import CanonicalSync
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import InMemoryAdapters
  import SyncJSON
  import Testing

  @Suite(
    "Real data in CloudKit", .enabled(if: Baseball.isPresent, "The shared data are absent."), .serialized,
    .timeLimit(.minutes(10)))
  struct BaseballTests {
    private static let references = ["home_team_id": "teams", "away_team_id": "teams"]

    /// A service with all types, and their declarations.
    private static func loaded(
      _ kind: CloudKitBench.Kind, _ names: [String] = Baseball.types, atMost limit: Int = 3000,
      sweepEvery: Duration = .seconds(24 * 3600),
      _ change: (inout StandInCloudKit.Settings) -> Void = { _ in }
    ) throws -> (CloudKitBench, [Entity]) {
      var types: [RecordType: CloudKitType] = [:]
      for type in names {
        types[RecordType(type)] = CloudKitType("BB\(type)")
        types[RecordType(type)]?.sweepEvery = sweepEvery
      }
      let bench = try CloudKitBench(kind, types: types, change)
      var entities: [Entity] = []
      for type in names {
        let objects = try Baseball.objects(type, atMost: limit)
        for start in stride(from: 0, to: objects.count, by: 200) {
          let rows = try objects[start..<min(start + 200, objects.count)].map { object in
            (name: object.id, fields: try fields(object.json))
          }
          bench.service.put(rows, type: "BB\(type)", in: bench.place.database, zone: bench.place.zone)
          bench.clock.advance(by: .seconds(1))
        }
        entities.append(
          Entity(
            RecordType(type),
            references: type == "games" ? references.map { .to(RecordType($1), by: FieldName($0)) } : []))
      }
      return (bench, entities)
    }

    private static func fields(_ json: String) throws -> [(name: String, field: StandInField)] {
      var fields: [(name: String, field: StandInField)] = []
      try JSONScanner.members(of: Array(json.utf8)[...]) { member throws(JSONError) in
        let (name, value) = (member.key, member.value)
        let text = String(decoding: value.bytes, as: UTF8.self)
        if name == "id" || value.isNull { return }
        if references[name] != nil {
          fields.append((name, StandInField(#"{"recordName":\#(text),"action":"NONE"}"#, "REFERENCE")))
        } else {
          let type =
            switch value.kind {
            case .string: "STRING"
            case .array: "INT64_LIST"
            default: name == "updated_at" ? "TIMESTAMP" : value.integer() == nil ? "DOUBLE" : "INT64"
            }
          fields.append((name, StandInField(value.bool().map { $0 ? "1" : "0" } ?? text, type)))
        }
      }
      return fields
    }

    @Test(arguments: CloudKitBench.Kind.allCases, [37, 200])
    func comeWholeAndThenOnlyWhatChanged(_ kind: CloudKitBench.Kind, _ pageSize: Int) async throws {
      let (bench, entities) = try Self.loaded(kind)
      bench.clock.advance(by: .seconds(300))
      let mirror = try await CloudKitMirror(bench, entities, pageSize: pageSize)
      var result = try await mirror.engine.sync()
      #expect(result.failures.isEmpty)
      #expect(result.total.inserted == result.total.fetched)
      for entity in entities { try mirror.expectEqual(entity.type) }
      #expect(mirror.store.records(of: "games").count == 3000)

      bench.clock.advance(by: .seconds(300))
      bench.service.forgetEntries()
      result = try await mirror.engine.sync()
      #expect(result.total.fetched == 0)
      #expect(bench.service.entries.count == entities.count, "One request for each type.")

      let games = try Baseball.objects("games", atMost: 10)
      bench.service.put(
        try games[0..<5].map {
          ($0.id, try Self.fields($0.json) + [("changed", StandInField("1", "INT64"))])
        },
        type: "BBgames", in: bench.place.database, zone: bench.place.zone)
      bench.service.delete(games[5..<10].map(\.id), in: bench.place.database, zone: bench.place.zone)
      // The time of the next listing of keys.
      bench.clock.advance(by: .seconds(25 * 3600))
      result = try await mirror.engine.sync()
      #expect(result.failures.isEmpty && result.refusedSweeps.isEmpty)
      #expect(result.total.updated == 5 && result.total.deleted == 5)
      for entity in entities { try mirror.expectEqual(entity.type) }
      #expect(bench.service.violation == nil)
    }

    /// Games change, come and go while they are listed, and indexes lag.
    @Test(arguments: 1...UInt64(Seeds.isSoak ? 200 : 20))
    func endEqualAfterAThousandChangesDuringTheirPages(_ seed: UInt64) async throws {
      let kind = CloudKitBench.Kind.allCases[Int(seed % 2)]
      let (bench, entities) = try Self.loaded(
        kind, ["teams", "games"], atMost: 250, sweepEvery: .seconds(600)
      ) {
        $0.seed = seed
        $0.indexLag = .seconds(40)
        $0.granularity = seed % 3 == 0 ? 1000 : 1
        $0.countsByOffset = seed % 5 == 0
        $0.hasShortPages = seed % 7 == 0
        $0.filterOmitsTombstones = seed % 4 > 1
      }
      let games = try Baseball.objects("games", atMost: 250)
      let fields = try games.map { try Self.fields($0.json) }
      let busy = BusyTransport(
        bench.service, seed: seed, keys: games.map(\.id), changes: 1000, portion: 25
      ) { changes in
        for (key, value) in changes {
          bench.clock.advance(by: .milliseconds(((value ?? 0) + 150) % 300))
          guard let value else {
            bench.delete(key)
            continue
          }
          let fields = fields[value % fields.count] + [("changed", StandInField("\(value)", "INT64"))]
          bench.service.put(
            [(key, fields)], type: "BBgames", in: bench.place.database, zone: bench.place.zone)
        }
      }
      let mirror = try await CloudKitMirror(
        bench, entities, pageSize: seed % 4 < 2 ? 37 : 200, transport: busy)
      try await mirror.sync(through: busy)
      for entity in entities { try mirror.expectEqual(entity.type, "seed \(seed)") }
      #expect(bench.service.violation == nil)
    }
  }
#endif
