import SyncJSON
import Testing

@Suite("A damaged JSON text")
struct JSONMutationTests {
  static let sample = Array(
    #" {"id":"a\u00e9\ud83d\ude00é😀","n":[-0,10.25E+3,1e-7,{}],"t":true,"f":false,"z":null,"":[ ]} "#.utf8)

  @Test func isSoundBeforeItIsDamaged() {
    #expect(accepts(Self.sample))
    #expect(JSONOracle.accepts(Self.sample))
  }

  @Test(arguments: sample.indices)
  func isRefusedWhenItsEndIsMissing(_ length: Int) {
    let bytes = Array(Self.sample[..<length])
    // Only the white space at the end may be missing.
    #expect(accepts(bytes) == (length == Self.sample.count - 1))
    read(bytes)
  }

  @Test(arguments: sample.indices)
  func isJudgedAsTheOracleDoesWhateverByteReplacesOne(_ index: Int) {
    var bytes = Self.sample
    for byte in UInt8.min...UInt8.max {
      bytes[index] = byte
      let isAccepted = accepts(bytes)
      if isAccepted != JSONOracle.accepts(bytes) {
        Issue.record("byte \(byte) at \(index): accepted \(isAccepted)")
      }
      read(bytes)
    }
  }

  @Test(arguments: sample.indices)
  func isJudgedAsTheOracleDoesWhenAByteIsMissingOrDoubled(_ index: Int) {
    var shorter = Self.sample
    shorter.remove(at: index)
    var longer = Self.sample
    longer.insert(longer[index], at: index)
    for bytes in [shorter, longer] {
      #expect(accepts(bytes) == JSONOracle.accepts(bytes))
      read(bytes)
    }
  }

  /// Reads everything that can be read. The test is that the call returns.
  private func read(_ bytes: [UInt8]) {
    func visit(_ value: JSONValueSlice) throws(JSONError) {
      _ = (value.string(), value.integer(), value.double(), value.bool())
      switch value.kind {
      case .object: try JSONScanner.members(of: value.bytes) { m throws(JSONError) in try visit(m.value) }
      case .array: try JSONScanner.elements(of: value.bytes, visit)
      default: break
      }
    }
    // Both must agree: one checks before it visits, the other while it visits.
    do throws(JSONError) {
      try JSONScanner.members(of: bytes[...]) { member throws(JSONError) in
        _ = member.key
        try visit(member.value)
      }
      #expect(accepts(bytes))
    } catch {
      let refusal = refusal(of: bytes)
      #expect(refusal == error || error.reason == .notAnObject)
    }
    _ = JSONScanner.compacted(bytes[...])
  }
}
