import CanonicalSync
import SyncAdapters
import SyncJSON
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Records that are read one after another are what they are one by one, whatever was read before.
@Suite("Reading a list of records")
struct ModelReaderTests {
  private struct Venue: Codable, Hashable {
    var name: String
    var seats: Int64
  }

  private struct Game: SyncedRecord, Codable, Hashable, Identifiable {
    static let recordType: RecordType = "games"
    static let coding = RecordCoding(defaults: ["round": 1])
    enum CodingKeys: String, CodingKey {
      case id, startsAt, price, venue, halls, scores, round
      case composed = "\u{e9}"
      case decomposed = "e\u{301}"
    }
    var id: String
    var startsAt: Date
    var price: Decimal?
    var venue: Venue?
    var halls: [Venue]?
    var scores: [Int]?
    var round: Int32
    var composed: Int?
    var decomposed: Int?
  }

  private static let members = [
    [#""id":"a""#, #""id":null"#, #""\u0069d":"b""#, #""id":"c","id":"d""#],
    [#""startsAt":"2026-04-01T18:00:00Z""#, #""startsAt":1"#],
    [#""price":12.50"#, #""price":"x""#, #""price":null"#, #""price":1,"price":2"#],
    [#""venue":{"name":"n","seats":3}"#, #""venue":{"seats":4,"name":"m"}"#, #""venue":{"name":"n"}"#],
    [#""halls":[{"name":"n","seats":3},{"name":"m","seats":1,"x":[]}]"#, #""halls":[]"#],
    [#""scores":[1,2,3]"#, #""scores":[]"#],
    [#""round":4"#, #""round":null"#, #""round":3000000000"#],
    [#""\#u{e9}":1"#, #""e\u0301":1"#],
    [#""e\#u{301}":2"#, #""\u00e9":2"#],
    [#""more":{"id":"x"}"#],
  ]

  @Test(arguments: 0..<20)
  func readsEachAsIfItWereAlone(_ seed: UInt64) {
    var random = Numbers(state: seed)
    let reader = ModelReader(Game.self)
    var read = 0
    for number in 0..<200 {
      var chosen = Self.members.compactMap { choices -> String? in
        // Most records are alike.
        let choice = Int.random(in: 0..<12, using: &random)
        return choice == 11 ? nil : choices[choice < 9 ? 0 : choice % choices.count]
      }
      if number % 5 == 4 { chosen.shuffle(using: &random) }
      let payload = Payload(Array("{\(chosen.joined(separator: ","))}".utf8))
      let alone = Result { () throws(Undecodable) in try payload.decoded(as: Game.self, key: "k") }
      let listed = Result { () throws(Undecodable) in try reader.decode(payload, key: "k") }
      #expect(listed == alone, "\(payload)")
      if case .success = listed { read += 1 }
    }
    #expect(read > 20)
  }

  /// SplitMix64.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }
}
