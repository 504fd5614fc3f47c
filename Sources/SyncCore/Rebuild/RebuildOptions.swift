public import SyncModels

/// How duplicates are collapsed.
public struct RebuildOptions: Hashable, Sendable, Codable {
  /// What the winner of a group takes over from those that lose to it.
  public var carriesOver: CarryOver
  /// How many records a transaction takes up, 2 or more; a group is never split. With more at once the store writes less, and the app's own edits wait longer.
  public var recordsAtOnce: Int

  /// Describes a rebuild; by default nothing is carried over.
  public init(carriesOver: CarryOver = .nothing, recordsAtOnce: Int = 2000) {
    self.carriesOver = carriesOver
    self.recordsAtOnce = recordsAtOnce
  }

  /// What a winner takes over: values of members that it lacks, or has as null, from the last written of the losers that have one.
  public enum CarryOver: Hashable, Sendable, Codable {
    /// The winner stays as it is.
    case nothing
    /// Members of any name.
    case everyField
    /// These members.
    case fields(Set<FieldName>)
  }

  func check() throws(SyncError) {
    guard recordsAtOnce < 2 else { return }
    throw SyncError(
      .invalidConfiguration, during: "collapsing duplicates",
      "A transaction has to take up 2 records or more, not \(recordsAtOnce).")
  }
}

extension RebuildOptions {
  /// Reads the options of a rebuild.
  ///
  /// - Throws: `DecodingError` for a number that is none of records.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      carriesOver: try values.decode(CarryOver.self, forKey: .carriesOver),
      recordsAtOnce: max(2, try values.decodeCount(forKey: .recordsAtOnce)))
  }
}
