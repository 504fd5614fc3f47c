import SyncModels

extension WithheldChange {
  /// Returns why a copy is parked that refers to absent records.
  static func reason(forMissing missing: [RecordID]) -> String {
    let names = missing.prefix(3).map(\.description).joined(separator: ", ")
    let more = missing.count > 3 ? " and \(missing.count - 3) more" : ""
    return "refers to \(names)\(more), which is not here"
  }

  /// Returns the entry as one that waits for absent records.
  func parked(waitingFor missing: [RecordID]) -> WithheldChange {
    var entry = self
    entry.kind = .parked
    entry.waitsFor = missing
    entry.reason = Self.reason(forMissing: missing)
    return entry
  }
}
