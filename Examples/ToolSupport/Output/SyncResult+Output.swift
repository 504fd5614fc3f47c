package import CanonicalSync
package import SyncCore

extension [TypeStatus] {
  /// The number of the store's records of each type.
  package var live: [RecordType: Int] {
    Dictionary(map { ($0.type, $0.live) }, uniquingKeysWith: { first, _ in first })
  }
}

extension SyncResult {
  /// The counts of each type, with the number of its records in the store.
  package func table(live: [RecordType: Int]) -> TextTable {
    let total = total
    // A count that is zero everywhere has no column, except for the main one.
    return table(
      of: SyncCounts.names.filter { $0.value(total) != 0 || $0.name == "inserted" }, live: live)
  }

  /// The members of a sync in the object of `--json`.
  package func members(live: [RecordType: Int]) -> [(key: String, value: JSON)] {
    total.members + [
      ("seconds", .double(duration / .seconds(1))), ("peakBytes", .integer(PeakMemory.bytes)),
      ("wasCancelled", .bool(wasCancelled)),
      (
        "entities",
        .object(
          entities.map { entity in
            let live = JSON.integer(live[entity.type, default: 0])
            return (entity.type.rawValue, .object(entity.counts.members + [("live", live)]))
          })
      ),
      (
        "failures",
        .object(failures.map { (key: $0.type.rawValue, value: .string($0.error.code.description)) })
      ),
      ("refusedSweeps", .array(refusedSweeps.map { .string($0.type.rawValue) })),
      ("pushed", .object(pushed.members)),
    ]
  }
}

extension PushCounts {
  /// Every count under its stable name.
  fileprivate var members: [(key: String, value: JSON)] {
    Self.names.map { (key: $0.name, value: .integer($0.value(self))) }
      + [("isRemoteFull", .bool(isRemoteFull))]
  }
}

extension SyncCounts {
  /// Every count under its stable name.
  fileprivate var members: [(key: String, value: JSON)] {
    Self.names.map { (key: $0.name, value: .integer($0.value(self))) }
  }
}
