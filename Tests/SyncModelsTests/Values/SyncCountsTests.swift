import SyncJSON
import SyncModels
import Testing

@Suite("The counts of a sync")
struct SyncCountsTests {
  @Test func addUpNumberByNumberLeavingNoneOut() throws {
    let names = SyncCounts.names.map(\.name)
    for name in names {
      let members = names.map { "\"\($0)\": \($0 == name ? 3 : 0)" }.joined(separator: ", ")
      let part = try JSONByteDecoder().decode(SyncCounts.self, from: Array("{\(members)}".utf8)[...])
      var total = part
      total += part
      for (other, value) in SyncCounts.names {
        #expect(value(total) == (other == name ? 6 : 0), "\(name) and \(other)")
      }
    }
  }

  @Test func haveEachNumberByItsName() throws {
    let bytes = try JSONByteEncoder().encode(SyncCounts())
    let members = try JSONByteDecoder().decode([String: Int].self, from: bytes[...])
    #expect(Set(members.keys) == Set(SyncCounts.names.map(\.name)))
  }
}
