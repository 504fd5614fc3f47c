import SyncModels
import Testing

@Suite("Names and instants")
struct IdentityTests {
  @Test func compareByteForByte() {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    #expect(composed == decomposed)
    #expect(RecordID(type: "a", key: composed) != RecordID(type: "a", key: decomposed))
    #expect(RecordType(composed) != RecordType(decomposed))
    #expect(FieldName(composed) != FieldName(decomposed))
    #expect(SyncToken(composed) != SyncToken(decomposed))
    #expect(PageToken(composed) != PageToken(decomposed))
    #expect(Set([composed, decomposed].map { RecordID(type: "a", key: $0) }).count == 2)
    #expect(RecordID(type: "a", key: decomposed) < RecordID(type: "a", key: composed))
  }

  /// Dictionaries of names from outside would otherwise become lists.
  @Test func hashByteForByte() {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    #expect(composed.hashValue == decomposed.hashValue)
    #expect(FieldName(composed).hashValue != FieldName(decomposed).hashValue)
    #expect(RecordType(composed).hashValue != RecordType(decomposed).hashValue)
    #expect(FieldValue.string(composed).hashValue != FieldValue.string(decomposed).hashValue)
    #expect(
      RecordID(type: "a", key: composed).hashValue != RecordID(type: "a", key: decomposed).hashValue)
  }

  @Test func sortByTypeThenByBytes() {
    let ids = [("a", "\u{10000}"), ("a", "\u{ff5e}"), ("b", "1"), ("a", "10"), ("a", "9")]
      .map { RecordID(type: RecordType($0.0), key: $0.1) }
    #expect(ids.sorted().map(\.key) == ["10", "9", "\u{ff5e}", "\u{10000}", "1"])
  }

  @Test func stopAtTheEndsOfTime() {
    let (start, end) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
    #expect(end + .seconds(1) == end)
    #expect(start - .seconds(1) == start)
    #expect(start + .seconds(-1) == start)
    #expect(end - .seconds(-1) == end)
    #expect(Timestamp(milliseconds: .max) == end)
    #expect(Timestamp(milliseconds: .min) == start)
    #expect(end.duration(since: start) == .microseconds(Int64.max))
    #expect(start.duration(since: end) == .microseconds(Int64.min))
    #expect(Timestamp(microseconds: 0) + .seconds(Int64.max) == end)
    #expect(Timestamp(microseconds: 0) - .seconds(Int64.max) <= Timestamp(microseconds: -.max))
  }

  @Test func unversionedRowsLoseToEveryVersion() {
    let least = Version(sequence: .min, modifiedAt: Timestamp(microseconds: .min))
    #expect(Version.unversioned < least)
    #expect(Version.unversioned.description == "unversioned")
  }
}
