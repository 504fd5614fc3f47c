#if CloudKit && os(Linux)
  @testable import CloudKitAdapters
  import InMemoryAdapters
  import SyncJSON
  import SyncModels
  import Testing

  @Suite("Records as plain members") struct RecordCodecTests {
    private static let reader = CloudKitRecordReader(
      Entity("games", references: [.to("teams", by: "home")], indexes: ["date"]), CloudKitType("Game"))

    /// Every type of field, with what the service may say beside it.
    private static let fields = [
      #""date":{"value":"2026-04-01","type":"STRING"}"#,
      #""runs":{"value":9007199254740993,"type":"INT64"}"#,
      #""price":{"value":1.50,"type":"DOUBLE"}"#, #""whole":{"value":5,"type":"DOUBLE"}"#,
      #""data":{"value":"AAECAw==","type":"BYTES"}"#, #""start":{"value":1795500000123,"type":"TIMESTAMP"}"#,
      #""place":{"value":{"latitude":42.3467,"longitude":-71.0972,"altitude":1e1},"type":"LOCATION"}"#,
      #""home":{"value":{"recordName":"BOS","action":"DELETE_SELF","zoneID":{"zoneName":"Z"}},"type":"REFERENCE"}"#,
      #""photo":{"value":{"fileChecksum":"x","size":12,"downloadURL":"https://x/${f}"},"type":"ASSETID"}"#,
      #""tags":{"value":["a","é\n"],"type":"STRING_LIST"}"#, #""scores":{"value":[9,7],"type":"INT64_LIST"}"#,
      #""ratios":{"value":[1,2.50],"type":"DOUBLE_LIST"}"#, #""none":{"value":[],"type":"INT64_LIST"}"#,
      #""times":{"value":[1,2],"type":"TIMESTAMP_LIST"}"#, #""blobs":{"value":["AA=="],"type":"BYTES_LIST"}"#,
      #""places":{"value":[{"latitude":1,"longitude":2}],"type":"LOCATION_LIST"}"#,
      #""others":{"value":[{"recordName":"a","action":"NONE"},{"recordName":"b","action":"VALIDATE"}],"type":"REFERENCE_LIST"}"#,
      #""files":{"value":[{"size":1}],"type":"ASSETID_LIST"}"#,
      #""secret":{"value":"x","type":"STRING","isEncrypted":true}"#, #""new":{"value":1,"type":"SOMETHING"}"#,
      #""untyped":{"value":"x"}"#, #""gone":{"value":null,"type":"STRING"}"#, #""odd":17"#,
      #""odder":{"value":"BOS","type":"REFERENCE"}"#, #""oddest":{"value":1,"type":5}"#,
      #""recordName":{"value":"a field","type":"STRING"}"#,
    ]

    private static func record(_ fields: [String]) -> [UInt8] {
      Array(
        #"{"recordName":"A\/1","recordType":"Game","recordChangeTag":"t1","fields":{\#(fields.joined(separator: ","))},"pluginFields":{"x":[1.0]},"created":{"timestamp":1795500000000,"userRecordName":"_u","deviceID":"2"},"modified":{"timestamp":1795500000123,"userRecordName":"_u"},"parent":{"recordName":"p"},"deleted":false,"future":1.10}"#
          .utf8)
    }

    /// The record that a payload came from.
    private static func rebuilt(_ payload: Payload) throws -> [UInt8] {
      let map = try FieldMap(payload)
      var record = ObjectWriter()
      record.add("recordName", try #require(map[RecordPayload.key]))
      try JSONScanner.members(of: #require(map[RecordPayload.record])) { member throws(JSONError) in
        record.add(rawKey: member.rawKey, member.value.bytes)
      }
      record.add("fields", try RecordFields(payload, of: reader.entity).object()[...])
      return record.bytes
    }

    private static func read(_ bytes: [UInt8]) throws -> Record {
      guard case .upsert(let copy) = reader.read(try RecordDictionary(bytes[...])) else {
        throw SyncError(.inconsistentData, during: "reading", "It is not a copy.")
      }
      return copy
    }

    @Test func nothingIsLostOnTheWayAndBack() throws {
      let bytes = Self.record(Self.fields)
      let copy = try Self.read(bytes)
      #expect(try JSONScanner.canonical(Self.rebuilt(copy.payload)[...]) == JSONScanner.canonical(bytes[...]))
      let text = String(decoding: copy.payload.bytes, as: UTF8.self)
      for spelled in [
        #""recordName":"A/1""#, #""date":"2026-04-01""#, #""runs":9007199254740993"#, #""price":1.50"#,
        #""home":"BOS""#,
        #""others":["a","b"]"#, #""start":1795500000123"#, #""altitude":1e1"#, #""x":[1.0]"#,
      ] {
        #expect(text.contains(spelled), "\(spelled)")
      }
      #expect(copy.id.key == "A/1" && copy.entityTag == "t1")
      #expect(copy.version == Version(modifiedAt: Timestamp(milliseconds: 1_795_500_000_123)))
      #expect(copy.fields == ["BOS", "2026-04-01"])
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func nothingIsLostWhateverTheOrderAndTheChoice(_ seed: UInt64) throws {
      var random = SplitMix64(seed: seed)
      let chosen = Self.fields.shuffled(using: &random).prefix(
        Int.random(in: 0...Self.fields.count, using: &random))
      let bytes = Self.record(Array(chosen))
      let copy = try Self.read(bytes)
      #expect(try JSONScanner.canonical(Self.rebuilt(copy.payload)[...]) == JSONScanner.canonical(bytes[...]))
    }

    @Test func anEditKeepsTheTypesOfItsBase() throws {
      let base = try Self.read(Self.record(Self.fields))
      var map = try FieldMap(base.payload)
      map["whole"] = Array("6".utf8)[...]
      map["home"] = Array("\"NYA\"".utf8)[...]
      map["start"] = Array("1795500000999".utf8)[...]
      map["tags"] = nil
      map["fresh"] = Array("true".utf8)[...]
      let edited = try RecordFields(map.payload, base: base.payload, of: Self.reader.entity)
      let before = try RecordFields(base.payload, of: Self.reader.entity)
      let (changed, removesAny) = edited.changes(since: before)
      #expect(Set(changed) == ["whole", "home", "start", "fresh"] && removesAny)
      let object = String(decoding: edited.object(changed), as: UTF8.self)
      for spelled in [
        #""whole":{"value":6,"type":"DOUBLE"}"#, #""start":{"value":1795500000999,"type":"TIMESTAMP"}"#,
        #"{"recordName":"NYA","action":"DELETE_SELF","zoneID":{"zoneName":"Z"}}"#,
        #""fresh":{"value":1,"type":"INT64"}"#,
      ] {
        #expect(object.contains(spelled), "\(object)")
      }
    }

    @Test func aNewRecordHasTheTypesOfItsValuesAndOfItsDeclaration() throws {
      let payload = Payload(
        Array(#"{"date":"x","runs":3,"ratio":2.5,"home":"BOS","when":5,"list":[1,2],"null":null}"#.utf8))
      let fields = try RecordFields(
        payload, of: Self.reader.entity, types: ["when": FieldType(rawValue: "TIMESTAMP")], zone: ZoneID("Z"))
      let object = String(decoding: fields.object(), as: UTF8.self)
      #expect(
        object
          == #"{"date":{"value":"x","type":"STRING"},"runs":{"value":3,"type":"INT64"},"ratio":{"value":2.5,"type":"DOUBLE"},"home":{"value":{"recordName":"BOS","action":"NONE","zoneID":{"zoneName":"Z"}},"type":"REFERENCE"},"when":{"value":5,"type":"TIMESTAMP"},"list":{"value":[1,2],"type":"INT64_LIST"}}"#
      )
    }

    @Test(arguments: [
      (#"{"x":{"a":1}}"#, "\"x\" is an object"), (#"{"x":[]}"#, "\"x\" is an array"),
      (#"{"x":[1,"a"]}"#, "\"x\" is an array"), (#"{"home":5.5}"#, "\"home\" is REFERENCE"),
      (#"{"when":"2026"}"#, "\"when\" is TIMESTAMP"), (#"[1]"#, "it "),
    ])
    func whatHasNoTypeIsNamed(_ json: String, _ words: String) throws {
      let flaw = #expect(throws: RecordFields.Flaw.self) {
        _ = try RecordFields(
          Payload(Array(json.utf8)), of: Self.reader.entity,
          types: ["when": FieldType(rawValue: "TIMESTAMP")])
      }
      #expect(flaw?.reason.contains(words) == true, "\(flaw?.reason ?? "")")
    }

    @Test func whatIsNoRecordIsKeptWithTheReason() throws {
      let cases = [
        (#"{"recordType":"Game"}"#, "recordName"),
        (#"{"recordName":"","modified":{"timestamp":5}}"#, "recordName"),
        (#"{"recordName":"a","fields":[]}"#, "fields"), (#"{"recordName":"a","fields":{}}"#, "modified"),
        (#"{"recordName":"a","modified":{"timestamp":-1}}"#, "modified"),
        (#"{"recordName":"a","serverErrorCode":"INTERNAL_ERROR","reason":"secret"}"#, "INTERNAL_ERROR"),
      ]
      for (json, words) in cases {
        let change = Self.reader.read(try RecordDictionary(Array(json.utf8)[...]))
        guard case .malformed(let malformed) = change else {
          Issue.record("\(json) is no record.")
          continue
        }
        #expect(malformed.reason.contains(words) && !malformed.reason.contains("secret"))
        #expect(Array(malformed.bytes.bytes) == Array(json.utf8))
      }
    }
  }
#endif
