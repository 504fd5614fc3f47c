import SyncModels
import Testing

@Suite("The counts of a sync")
struct SyncCountsTests {
  @Test func addUpNumberByNumberLeavingNoneOut() {
    for (name, path) in SyncCounts.names {
      var part = SyncCounts()
      part[keyPath: path] = 3
      var total = part
      total += part
      for (other, path) in SyncCounts.names {
        #expect(total[keyPath: path] == (other == name ? 6 : 0), "\(name) and \(other)")
      }
    }
  }
}
