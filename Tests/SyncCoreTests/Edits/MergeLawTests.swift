import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("The laws of merging")
struct MergeLawTests {
  /// Ties in time, in counter and in replica; deletions; a clock that ran backwards.
  static let writes: [StampedValue] = {
    let stamps = [
      EditStamp(physical: Timestamp(microseconds: -5), counter: 9, replica: "b"),
      EditStamp(physical: Timestamp(microseconds: 7)),
      EditStamp(physical: Timestamp(microseconds: 7), counter: 0, replica: "a"),
      EditStamp(physical: Timestamp(microseconds: 7), counter: 0, replica: "b"),
      EditStamp(physical: Timestamp(microseconds: 7), counter: 1, replica: "a"),
      EditStamp(physical: Timestamp(microseconds: .max), counter: .max, replica: "ä"),
    ]
    let contents: [String?] = [nil, #"{}"#, #"{"a":1}"#, #"{"a":2,"b":1}"#]
    return stamps.flatMap { stamp in
      contents.map { StampedValue($0.map { Payload(Array($0.utf8)) }, stamp: stamp) }
    }
  }()

  @Test func neitherOrderNorGroupingNorRepetitionMattersToTheLastWrite() {
    for a in Self.writes {
      #expect(a.merged(with: a) == a)
      for b in Self.writes {
        let ab = a.merged(with: b)
        #expect(ab == b.merged(with: a))
        #expect(ab == a || ab == b)
        #expect(ab.merged(with: b) == ab)
        for c in Self.writes {
          #expect(ab.merged(with: c) == a.merged(with: b.merged(with: c)))
        }
      }
    }
  }

  static let bases: [String?] = [nil, #"{"a":1}"#, #"{"b":1,"a":0}"#]

  /// The resolution of the record, from the side of either write.
  private func outcome(
    _ policy: some MergePolicy, _ local: StampedValue, _ remote: StampedValue, base: String?
  ) -> Payload? {
    let conflict = MergeConflict(
      id: RecordID(type: "t", key: "k"), base: base.map { Payload(Array($0.utf8)) }, local: local,
      remote: remote)
    switch policy.settle(conflict) {
    case .local: return local.content
    case .remote: return remote.content
    case .merged(let payload, _): return payload
    }
  }

  private func isSame(_ a: Payload?, _ b: Payload?) -> Bool {
    switch (a, b) {
    case (nil, nil): true
    case (let a?, let b?): a.hasSameMembers(as: b)
    default: false
    }
  }

  @Test(arguments: bases)
  func bothSidesComeToTheSameEnd(base: String?) {
    for a in Self.writes {
      for b in Self.writes where a.stamp != b.stamp || a == b {
        #expect(
          isSame(
            outcome(LastWriteWins(), a, b, base: base), outcome(LastWriteWins(), b, a, base: base)))
        #expect(
          isSame(
            outcome(FieldwiseLastWriteWins(), a, b, base: base),
            outcome(FieldwiseLastWriteWins(), b, a, base: base)), "\(a) and \(b) on \(base ?? "nothing")")
      }
    }
  }

  @Test(arguments: bases)
  func whatIsTheSameOnBothSidesStays(base: String?) {
    for a in Self.writes {
      #expect(isSame(outcome(LastWriteWins(), a, a, base: base), a.content))
      #expect(isSame(outcome(FieldwiseLastWriteWins(), a, a, base: base), a.content))
      #expect(isSame(outcome(ServerWins(), a, a, base: base), a.content))
    }
  }

  @Test func theRemotesWordStandsWhateverTheTime() {
    for a in Self.writes {
      for b in Self.writes { #expect(outcome(ServerWins(), a, b, base: nil) == b.content) }
    }
  }

  @Test func fieldsThatOneSideAloneChangedKeepItsValue() throws {
    let conflict = try conflict(
      base: #"{"name":"m","place":"hall","n":1,"old":true}"#,
      local: #"{"name":"mine","place":"hall","n":2}"#,
      remote: #"{"name":"m","place":"attic","n":3,"old":true,"x":0}"#)
    guard case .merged(let merged, let reason) = FieldwiseLastWriteWins().settle(conflict) else {
      Issue.record("It was not merged.")
      return
    }
    // The local edit is later, so its number wins where both changed it. Its removals and the
    // remote's additions remain.
    #expect(merged.hasSameMembers(as: payload(#"{"name":"mine","place":"attic","n":2,"x":0}"#)))
    #expect(reason.contains("1 went to the local edit and 0 to the remote's"))
  }

  private func conflict(base: String, local: String, remote: String) throws -> MergeConflict {
    MergeConflict(
      id: RecordID(type: "t", key: "k"), base: payload(base),
      local: StampedValue(
        payload(local), stamp: EditStamp(physical: Timestamp(microseconds: 2), replica: "a")),
      remote: StampedValue(payload(remote), stamp: EditStamp(physical: Timestamp(microseconds: 1))))
  }

  private func payload(_ json: String) -> Payload { Payload(Array(json.utf8)) }
}
