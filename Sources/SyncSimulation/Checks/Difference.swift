import SyncCore
import SyncModels

/// A contradiction within a store, or between a store and its remote.
struct Difference: Hashable, Sendable, CustomStringConvertible {
  /// The contradiction, in words.
  var description: String
  /// The records that it is about, the first one most of all.
  var records: [RecordID]

  init(_ description: String, about records: [RecordID]) {
    (self.description, self.records) = (description, records)
  }

  init(_ finding: StoreFinding) {
    description = finding.description
    records =
      if let type = finding.type, let key = finding.key { [RecordID(type: type, key: key)] } else { [] }
  }
}
