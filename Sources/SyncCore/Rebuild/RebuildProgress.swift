import SyncModels
import SyncPorts

/// The progress of a type's rebuild, saved in the rebuild's own transactions.
struct RebuildProgress: Hashable, Sendable, Codable {
  var version: Int
  /// The natural key up to which all groups are done.
  ///
  /// Some groups after it may be done as well.
  var after: String?
  /// The number of postponed groups up to that key.
  ///
  /// `nil` in progress saved by versions that took groups up in the order of their keys.
  var postponedUpToKey: Int?
  var isDone = false
  var recordsBefore: Int
  var counts = RebuildReport.Counts()
  /// The options of the rebuild, which also apply to duplicates that arrive later.
  var options: RebuildOptions

  static func load(
    for type: RecordType, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> RebuildProgress? {
    try snapshot.value(of: key(for: type))
  }

  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key(for: type))
  }

  /// Removes the progress of a type's rebuild, and the duplicates that arrived since.
  static func forget(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.remove(key(for: type))
    try ArrivedDuplicates().save(for: type, in: transaction)
  }

  private static func key(for type: RecordType) -> ValueKey<RebuildProgress> {
    ValueKey(.rebuilds, type.rawValue)
  }
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
