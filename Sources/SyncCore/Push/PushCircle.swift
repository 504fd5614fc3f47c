import SyncModels

extension [PushCandidate] {
  /// One of those that wait for each other in a circle, and for nothing else; without one that goes first, none of them would ever go.
  ///
  /// - Parameter absent: The records that the remote has not got.
  /// - Complexity: O(*n*²) at worst, where every candidate waits for the next one.
  func memberOfCircle(absent: Set<RecordID>) -> RecordID? {
    var waiting = Dictionary(
      map { ($0.entry.id, $0.waitsFor.filter(absent.contains)) }, uniquingKeysWith: { first, _ in first })
    // Whoever waits, at however many removes, for a record that is not among them has to wait on.
    while true {
      let blocked = waiting.filter { $0.value.contains { waiting[$0] == nil } }
      if blocked.isEmpty { break }
      for id in blocked.keys { waiting[id] = nil }
    }
    guard var id = lazy.map(\.entry.id).first(where: { waiting[$0] != nil }) else { return nil }
    var passed: Set<RecordID> = []
    while passed.insert(id).inserted, let next = waiting[id]?.first { id = next }
    return id
  }
}
