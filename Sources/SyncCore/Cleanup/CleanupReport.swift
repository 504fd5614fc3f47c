public import SyncModels

/// The result of a clean-up.
public struct CleanupReport: Hashable, Sendable {
  /// The numbers of records that were hidden, by type.
  public var hidden: [RecordType: Int] = [:]
  /// The numbers of records that are no longer hidden, by type.
  ///
  /// Earlier clean-ups hid them and no rule hides them any more. They are shown again, or parked if
  /// a record that they refer to is gone.
  public var shown: [RecordType: Int] = [:]
  /// The numbers of records that a rule selected and that stay, by type.
  ///
  /// These are edited records, records that others refer to, and records with a withheld change.
  public var spared: [RecordType: Int] = [:]
  /// The number of ended values that were removed, beside records and in them.
  public var expired = 0
  /// The number of sightings that were removed as too old.
  public var sightings = 0
  /// Whether the clean-up stopped on request.
  ///
  /// All that it has done stays, and the next one does the rest.
  public var wasCancelled = false

  /// Creates the report of a clean-up that did nothing.
  public init() {}
}
