import SyncModels

extension [PushCandidate] {
  /// Returns a candidate of a circle in which all wait only for each other.
  ///
  /// Unless one of them goes first, none could ever be sent.
  ///
  /// - Parameter absent: The records that the remote does not have.
  /// - Complexity: O(*n*²) at worst, when every candidate waits for the next one.
  func memberOfCircle(absent: Set<RecordID>) -> RecordID? {
    var waiting = Dictionary(
      map { ($0.entry.id, $0.waitsFor.filter(absent.contains)) }, uniquingKeysWith: { first, _ in first })
    // A candidate that waits, directly or indirectly, for a record outside of the candidates keeps
    // waiting.
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
