public import SyncModels

/// Options of collapsing duplicates.
public struct RebuildOptions: Hashable, Sendable, Codable {
  /// The members that a group's winner takes over from its losers.
  public var carriesOver: CarryOver
  /// The number of records in a transaction, 2 or more.
  ///
  /// A group is never split. With a larger number the store writes less, and the app's own edits
  /// wait longer.
  public var recordsAtOnce: Int

  /// Creates options; by default nothing is carried over.
  public init(carriesOver: CarryOver = .nothing, recordsAtOnce: Int = 2000) {
    self.carriesOver = carriesOver
    self.recordsAtOnce = recordsAtOnce
  }

  /// The members that a winner takes over.
  ///
  /// A winner takes over the values of members that it lacks or has as null. Each value comes from
  /// the last written loser that has one.
  public enum CarryOver: Hashable, Sendable, Codable {
    /// No members: the winner stays as it is.
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
  /// Decodes the options of a rebuild.
  ///
  /// - Throws: `DecodingError` for a number of records that is out of range.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      carriesOver: try values.decode(CarryOver.self, forKey: .carriesOver),
      recordsAtOnce: max(2, try values.decodeCount(forKey: .recordsAtOnce)))
  }
}
