import Testing

@testable import InMemoryAdapters

@Suite("An ordered map")
struct OrderedMapTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func holdsWhatADictionaryHoldsInOrder(_ seed: UInt64) {
    var numbers = SplitMix64(seed: seed)
    var map = OrderedMap<Int, Int>()
    var model: [Int: Int] = [:]
    for step in 0..<4000 {
      let key = Int.random(in: 0..<700, using: &numbers)
      let value: Int? = Int.random(in: 0..<3, using: &numbers) == 0 ? nil : step
      map[key] = value
      model[key] = value
    }
    #expect(map.map(\.key) == model.keys.sorted())
    #expect(map.allSatisfy { model[$0.key] == $0.value })
    #expect(map.count == model.count)
    for key in -1...701 {
      #expect(map[key] == model[key])
      #expect(map.entries(from: key).first { _ in true }?.key == model.keys.filter { $0 >= key }.min())
      #expect(map.entries(after: key).first { _ in true }?.key == model.keys.filter { $0 > key }.min())
      #expect(map.count(after: key) == model.keys.count { $0 > key })
    }
  }

  @Test func staysAsItWasWhenACopyChanges() {
    var map = OrderedMap<Int, Int>()
    for key in 0..<1000 { map[key] = key }
    let before = map
    for key in 0..<1000 { map[key] = key.isMultiple(of: 2) ? nil : -key }
    #expect(before.count == 1000)
    #expect(before.allSatisfy { $0.key == $0.value })
    #expect(map.count == 500)
  }

  @Test func isEmptyWhenAllIsRemoved() {
    var map = OrderedMap<Int, Int>()
    for key in 0..<500 { map[key] = key }
    for key in (0..<500).reversed() { map[key] = nil }
    #expect(map.count == 0)
    #expect(map.allSatisfy { _ in false })
    map[3] = 3
    #expect(map[3] == 3)
  }
}
