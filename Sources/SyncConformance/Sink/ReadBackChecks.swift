import SyncModels
import SyncPorts

/// The source returns pushed changes as their outcomes describe them.
enum ReadBackChecks {
  static func acceptedVersionsRise(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("a", 1)
    var base = try await bench.base(of: "a")
    for value in 2...4 {
      let next = try await bench.pushAccepted(bench.upsert("a", value, on: base))
      try expectRise(from: base, to: next)
      base = next
    }
    let gone = try await bench.pushAccepted(bench.deletion("a", on: base))
    try expectRise(from: base, to: gone)
    let anew = try await bench.pushAccepted(bench.upsert("a", 5, on: gone))
    try expectRise(from: gone, to: anew)
  }

  private static func expectRise(
    from earlier: OutboxEntry.Base, to later: OutboxEntry.Base
  ) throws(ConformanceFailure) {
    guard let before = earlier.version, let after = later.version else {
      throw ConformanceFailure("An accepted change has a version.")
    }
    try expect(after > before, "An accepted change has a greater version than its base.")
  }

  static func sourceReadsTheAcceptedCopy(_ bench: SinkBench) async throws {
    try await bench.harness.upsert("b", 1)
    let accepted = [
      try await bench.pushAccepted(bench.upsert("a", 1)),
      try await bench.pushAccepted(bench.upsert("b", 2, on: try await bench.base(of: "b"))),
    ]
    for case .copy(let record) in accepted {
      guard case .upsert(let copy)? = try await bench.harness.read(record.id.key) else {
        throw ConformanceFailure("An accepted record comes from the source as a copy.")
      }
      try expect(
        copy.version, equals: record.version, "The source lists a push's echo under the version it has.")
      try expect(copy.entityTag, equals: record.entityTag, "Source and sink name a record's state alike.")
      try expect(copy.fields, equals: record.fields, "The source lists the copy of the accepted outcome.")
    }
    // An edit's base is the copy that the source read.
    _ = try await bench.pushAccepted(bench.upsert("a", 3, on: try await bench.base(of: "a")))
  }

  static func payloadIsKeptWhole(_ bench: SinkBench) async throws {
    let stamp = FieldName.editStamp.rawValue
    // The first whole number that a double cannot hold.
    let number: Int64 = bench.harness.keepsEachDigit ? 9_007_199_254_740_993 : 9_007_199_254_740_991
    // A remote with types of its own may have none for an undeclared member.
    let undeclared =
      bench.harness.sink.keepsUnknownMembers
      ? #","unknown":{"a":[1.50,null,"é"],"n":\#(number)},"price":1.10,"\#(stamp)":"0 1.2@a""#
      : #","price":1.10"#
    let json = #"{"value":\#(number)\#(undeclared)}"#
    let payload = Payload(Array(json.utf8))
    var change = bench.upsert("a", 1)
    change.content = .upsert(payload, schemaVersion: 1)
    _ = try await bench.pushAccepted(change)
    guard case .upsert(let copy)? = try await bench.harness.read("a") else {
      throw ConformanceFailure("An accepted record comes from the source as a copy.")
    }
    try expect(
      copy.fields, equals: [.integer(number)], "A pushed payload keeps its numbers to the last digit.")
    guard bench.harness.sink.keepsUnknownMembers else { return }
    let (sent, kept) = (try FieldMap(payload), try FieldMap(copy.payload))
    try expectSame(
      sent.fields, in: kept, as: sent, "A sink that declares so returns undeclared members unchanged.")
  }

  /// Checks that members have the values that were sent, in any spelling.
  private static func expectSame(
    _ fields: [FieldName], in kept: FieldMap, as sent: FieldMap, _ sentence: String
  ) throws(ConformanceFailure) {
    for field in fields where !kept.hasSameValue(as: sent, for: field) {
      let (here, there) = (text(sent[field]), text(kept[field]))
      throw ConformanceFailure("\(sentence) \(field): found \(there) instead of \(here).")
    }
  }

  static func remoteWritesOnlyWhatItDeclares(_ bench: SinkBench) async throws {
    var base = OutboxEntry.Base.none
    for value in 1...3 {
      let change = bench.upsert("a", value, on: base)
      base = try await bench.pushAccepted(change)
      guard let accepted = base.record, let payload = change.content.payload else {
        throw ConformanceFailure("The outcome of an accepted upsert is a copy.")
      }
      var (sent, kept) = (try FieldMap(payload), try FieldMap(accepted.payload))
      for field in bench.harness.serverManagedFields { (sent[field], kept[field]) = (nil, nil) }
      (sent[.editStamp], kept[.editStamp]) = (nil, nil)
      try expectSame(
        sent.fields + kept.fields, in: kept, as: sent,
        """
        A remote stores a record as it was sent, apart from the source's server-managed fields, which the harness \
        names too.
        """)
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>?) -> String {
    bytes.map { String(decoding: $0, as: UTF8.self) } ?? "no member"
  }

  static func identityStays(_ bench: SinkBench) async throws {
    let identity = bench.harness.sink.identity
    try expect(!identity.isEmpty, "A sink has an identity.")
    _ = try await bench.pushAccepted(bench.upsert("a", 1))
    let other = try await bench.harness.reopen?() ?? bench.harness.sink
    for sink in [bench.harness.sink, other] {
      try expect(sink.identity, equals: identity, "A sink's identity does not change with the data.")
    }
  }
}
