public import SyncModels

/// What a clean-up did.
public struct CleanupReport: Hashable, Sendable {
  /// Records that were hidden, by type.
  public var hidden: [RecordType: Int] = [:]
  /// Records that earlier clean-ups hid and no rule hides any more, by type: shown again, or parked where what they refer to has gone.
  public var shown: [RecordType: Int] = [:]
  /// Records that a rule selected and that stay: edited ones, ones that others refer to, and ones of which a change is set aside.
  public var spared: [RecordType: Int] = [:]
  /// Expiring values that had ended, beside records and in them.
  public var expired = 0
  /// Sightings that were too old.
  public var sightings = 0
  /// Whether it stopped because it was asked to; what it has done stays, and the next one does the rest.
  public var wasCancelled = false

  /// Describes a clean-up that did nothing.
  public init() {}
}
