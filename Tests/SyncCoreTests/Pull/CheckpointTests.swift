import SyncCore
import SyncModels
import Testing

@Suite("Reading a checkpoint")
struct CheckpointTests {
  private static let text =
    #"{"scope":{"source":"s","query":"","schemaVersion":1,"store":"x"},"inFlight":{"number":4,"coverage":"full","fetched":100,"total":423},"lastPass":4,"epoch":2,"sweptPass":1,"sweep":{"pass":3}}"#

  @Test func takesMembersInAnyOrderAndLeavesOutThoseOfLaterVersions() throws {
    let checkpoint = try Checkpoint(json: Array(Self.text.utf8))
    #expect(checkpoint.lastPass == 4 && checkpoint.epoch == 2 && checkpoint.sweptPass == 1)
    #expect(checkpoint.inFlight?.fetched == 100 && checkpoint.inFlight?.total == 423)
    #expect(checkpoint.sweep == Checkpoint.Sweep(pass: 3))
    for (before, after) in [
      (#""epoch":2"#, #""new":{"a":[]},"epoch":2"#), ("\"pass\"", "\"new\":1,\"pass\""),
    ] {
      let later = Self.text.replacing(before, with: after)
      #expect(later != Self.text)
      #expect(try Checkpoint(json: Array(later.utf8)) == checkpoint)
    }
  }

  @Test(arguments: 0..<1024)
  func isTheOneThatWasWritten(_ parts: Int) throws {
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
    if has(8) {
      let refusal: SweepRefusal = has(9) ? .unidentifiedMalformed(1) : .massDeletion(missing: 3, of: 8)
      checkpoint.sweep = Checkpoint.Sweep(pass: 7, listed: has(2) ? 5 : nil, refusal: refusal)
    }
    #expect(try Checkpoint(json: checkpoint.json) == checkpoint)
  }

  @Test(arguments: [
    (#""lastPass":4"#, #""lastPass":9223372036854775807"#, "lastPass"),
    (#""epoch":2"#, #""epoch":-1"#, "epoch"), (#""epoch":2"#, #""epoch":"2""#, "epoch"),
    (#""epoch":2,"#, "", "epoch"), (#""sweptPass":1"#, #""sweptPass":9007199254740993"#, "sweptPass"),
    (#""source":"s","#, "", "scope.source"),
    (#""schemaVersion":1"#, #""schemaVersion":1e0"#, "scope.schemaVersion"),
    (#""number":4"#, #""number":9223372036854775807"#, "inFlight.number"),
    (#""number":4,"#, "", "inFlight.number"),
    (#""fetched":100"#, #""fetched":-9223372036854775808"#, "inFlight.fetched"),
    (#""total":423"#, #""total":9223372036854775807"#, "inFlight.total"),
    (#""coverage":"full""#, #""coverage":"half""#, "inFlight.coverage"),
    (#""pass":3"#, #""pass":9223372036854775807"#, "sweep.pass"),
    (#""pass":3"#, #""pass":null"#, "sweep.pass"),
    (#""pass":3"#, #""pass":3,"missing":1"#, "sweep.of"),
    (#""pass":3"#, #""pass":3,"unidentified":-1"#, "sweep.unidentified"),
    (#""inFlight":{"#, #""committed":1,"inFlight":{"#, "committed"), (#"{"pass":3}"#, "[3]", "sweep"),
  ])
  func isRefusedWithAnotherForm(_ before: String, _ after: String, _ member: String) {
    let text = Self.text.replacing(before, with: after)
    #expect(text != Self.text)
    let error = #expect(throws: StoredFormError.self) { try Checkpoint(json: Array(text.utf8)) }
    #expect(error?.description == "Its member \(member) is missing or has another form.")
  }

  @Test(arguments: ["", "[]", "1", #"{"scope":{}"#])
  func isRefusedIfItIsNoObject(_ text: String) {
    let error = #expect(throws: StoredFormError.self) { try Checkpoint(json: Array(text.utf8)) }
    #expect(error?.description == "It is no JSON object.")
  }
}
