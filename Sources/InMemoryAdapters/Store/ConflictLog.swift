import SyncModels

/// The settled conflicts by number. Numbers rise even after conflicts are deleted.
struct ConflictLog: Sendable {
  private var conflicts = OrderedMap<Int64, Conflict>()
  private var lastNumber: Int64 = 0

  mutating func add(_ conflict: Conflict) throws(SyncError) {
    if case .malformed = conflict.remote {
      throw SyncError(
        .invalidConfiguration, during: "logging a conflict over \(conflict.id)",
        "The remote state must be a copy or a tombstone.")
    }
    lastNumber += 1
    var kept = conflict
    kept.number = lastNumber
    kept.local = conflict.local.detached()
    kept.base = conflict.base?.detached()
    if case .upsert(let record) = conflict.remote { kept.remote = .upsert(record.bare()) }
    conflicts[lastNumber] = kept
  }

  mutating func remove(settledBefore instant: Timestamp) {
    let old = conflicts.filter { $0.value.settledAt < instant }.map(\.key)
    for number in old { remove(number) }
  }

  mutating func remove(_ number: Int64) { conflicts[number] = nil }

  /// The conflicts of one type or of all, the newest first.
  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) -> [Conflict] {
    guard limit > 0 else { return [] }
    let all = conflicts.entriesBackwards(before: before).lazy.map(\.value)
    return Array(all.filter { type == nil || $0.id.type == type }.prefix(limit))
  }
}
