import SyncModels
import Testing

@Suite("Natural keys")
struct NaturalKeyTests {
  private static let entity = Entity("meters", naturalKey: NaturalKey("serial"))

  private func key(_ serial: String) throws -> String? {
    let payload = Payload(Array(#"{"id":"a","serial":\#(serial)}"#.utf8))
    let record = Record(
      id: RecordID(type: "meters", key: "a"), version: .unversioned, payload: payload,
      fields: try Self.entity.fields(of: payload))
    return Self.entity.naturalKey(of: record)
  }

  @Test(arguments: [
    ["5", "5.0", "50e-1"], ["-0", "0", "0.0"], ["0.5", "5e-1"], ["9007199254740991", "9007199254740991.0"],
    [#""5""#, #""\u0035""#],
  ])
  func areTheSameInEverySpelling(_ spellings: [String]) throws {
    let keys = try spellings.map { try #require(try key($0)) }
    #expect(Set(keys).count == 1, "\(keys)")
  }

  /// Different numbers that a double does not tell apart are no duplicates.
  @Test(arguments: [
    "18446744073709551614", "18446744073709551615", "-9223372036854775809", "1e400", "-1e500",
    "9007199254740992.0",
    "9007199254740993.0", "null", "[5]", #""""#,
  ])
  func matchNothing(_ serial: String) throws {
    #expect(try key(serial) == nil)
  }

  @Test func tellIntegersOf64BitsApart() throws {
    let keys = try (0..<4).map { try #require(try key("\(Int64.max - Int64($0))")) }
    #expect(Set(keys).count == 4)
  }
}
