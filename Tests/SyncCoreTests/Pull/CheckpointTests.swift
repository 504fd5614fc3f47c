import SyncCore
import SyncJSON
import SyncModels
import Testing

@Suite("Reading a checkpoint")
struct CheckpointTests {
  private static func text(_ change: (String) -> String = { $0 }) -> [UInt8] {
    Array(
      change(
        #"{"scope":{"source":"s","query":"","schemaVersion":1,"store":"x"},"inFlight":{"number":4,"coverage":"full","fetched":100,"total":423},"lastPass":4,"epoch":2,"sweptPass":1,"needsSecondListing":false,"sweep":{"pass":3}}"#
      ).utf8)
  }

  @Test func isTheOneThatWasWritten() throws {
    let checkpoint = try JSONByteDecoder().decode(Checkpoint.self, from: Self.text()[...])
    #expect(checkpoint.lastPass == 4 && checkpoint.epoch == 2 && checkpoint.sweptPass == 1)
    #expect(checkpoint.inFlight?.fetched == 100 && checkpoint.inFlight?.total == 423)
    // An older version of the library recorded no more.
    #expect(checkpoint.sweep == Checkpoint.Sweep(pass: 3))
    var changed = checkpoint
    changed.sweep = Checkpoint.Sweep(pass: 3, listed: 0, refusal: .massDeletion(missing: 1, of: 2))
    let bytes = try JSONByteEncoder().encode(changed)
    #expect(try JSONByteDecoder().decode(Checkpoint.self, from: bytes[...]) == changed)
  }

  @Test(arguments: [
    (#""lastPass":4"#, #""lastPass":9223372036854775807"#), (#""epoch":2"#, #""epoch":-1"#),
    (#""number":4"#, #""number":9223372036854775807"#),
    (#""fetched":100"#, #""fetched":-9223372036854775808"#),
    (#""total":423"#, #""total":9223372036854775807"#), (#""pass":3"#, #""pass":9223372036854775807"#),
    (#""sweptPass":1"#, #""sweptPass":9007199254740993"#),
  ])
  func isRefusedWithANumberOutOfReach(_ before: String, _ after: String) {
    let bytes = Self.text { $0.replacing(before, with: after) }
    #expect(bytes != Self.text())
    #expect(throws: DecodingError.self) { try JSONByteDecoder().decode(Checkpoint.self, from: bytes[...]) }
    #expect(Checkpoint(json: bytes) == nil)
  }

  @Test(arguments: 0..<256)
  func isSpelledOutAsTheGenericEncoderWritesIt(_ parts: Int) throws {
    func has(_ part: Int) -> Bool { parts & 1 << part != 0 }
    let scope = Checkpoint.Scope(source: "a \"b\" \u{1F600}\n", query: "", schemaVersion: 3, store: "x")
    var checkpoint = Checkpoint(scope: scope)
    (checkpoint.lastPass, checkpoint.epoch, checkpoint.sweptPass) = (7, 2, 5)
    if has(0) { checkpoint.committed = SyncToken("t\\1") }
    if has(1) { checkpoint.committedAt = Timestamp(microseconds: -1) }
    if has(2) {
      checkpoint.inFlight = Checkpoint.Pass(
        number: 7, base: has(0) ? SyncToken("b") : nil, coverage: has(1) ? .delta : .full,
        resumeAt: has(3) ? PageToken("p\t") : nil, candidate: has(4) ? SyncToken("") : nil, fetched: 9,
        total: has(5) ? 12 : nil)
    }
    if has(3) { checkpoint.sweptFence = 4 }
    if has(4) { checkpoint.deletionsVerifiedAt = Timestamp(microseconds: 1) }
    checkpoint.needsSecondListing = has(5)
    if has(6) { checkpoint.sweep = Checkpoint.Sweep(pass: 7, listed: has(2) ? 5 : nil) }
    checkpoint.hasNewQuery = has(7)
    let json = try #require(checkpoint.json)
    #expect(try json == JSONByteEncoder().encode(checkpoint))
    #expect(Checkpoint(json: json) == checkpoint)
    checkpoint.sweep = Checkpoint.Sweep(pass: 7, refusal: .unidentifiedMalformed(1))
    #expect(checkpoint.json == nil)
    let generic = try JSONByteEncoder().encode(checkpoint)
    #expect(Checkpoint(json: generic) == nil)
  }

  @Test(arguments: [
    (#""epoch":2,"#, ""), (#""epoch":2"#, #""epoch":"2""#), (#""epoch":2"#, #""epoch":2,"new":1"#),
    (#""source":"s","#, ""), (#""number":4,"#, ""), (#""number":4"#, #""number":4,"new":1"#),
    (#""pass":3"#, #""pass":null"#), (#""schemaVersion":1"#, #""schemaVersion":1e0"#),
    (#""inFlight":{"#, #""committed":{"rawValue":1},"inFlight":{"#), ("}}", "}"),
  ])
  func leavesOtherFormsToTheGenericDecoder(_ before: String, _ after: String) {
    #expect(Checkpoint(json: Self.text()) != nil)
    #expect(Checkpoint(json: Self.text { $0.replacing(before, with: after) }) == nil)
  }
}
