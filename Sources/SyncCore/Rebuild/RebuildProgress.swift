import SyncModels
import SyncPorts

/// How far the rebuild of a type has come, as it is kept in the store, in the transactions that do it.
struct RebuildProgress: Hashable, Sendable, Codable {
  var version: Int
  /// The natural key up to which all groups have been dealt with; of those behind it some may have been.
  var after: String?
  /// How many groups up to that key had to be left; `nil` in what was saved when groups were taken up in the order of their keys.
  var postponedUpToKey: Int?
  var isDone = false
  var recordsBefore: Int
  var counts = RebuildReport.Counts()
  /// How it was asked for, for what arrives later.
  var options: RebuildOptions

  static func load(
    for type: RecordType, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> RebuildProgress? {
    try snapshot.decoded(RebuildProgress.self, forKey: key(for: type))
  }

  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.encode(self, forKey: Self.key(for: type))
  }

  /// Forgets how far the rebuild of a type has come, and what arrived since.
  static func forget(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.setValue(nil, forKey: key(for: type))
    try ArrivedDuplicates().save(for: type, in: transaction)
  }

  private static func key(for type: RecordType) -> String { "rebuild/\(type)" }
}

extension RebuildProgress {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      version: try values.decode(Int.self, forKey: .version),
      after: try values.decodeIfPresent(String.self, forKey: .after),
      postponedUpToKey: try values.decodeCountIfPresent(forKey: .postponedUpToKey),
      isDone: try values.decode(Bool.self, forKey: .isDone),
      recordsBefore: try values.decodeCount(forKey: .recordsBefore),
      counts: try values.decode(RebuildReport.Counts.self, forKey: .counts),
      options: try values.decode(RebuildOptions.self, forKey: .options))
  }
}
