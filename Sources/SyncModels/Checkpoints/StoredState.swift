/// The state of a stored record, as far as a merge needs it.
public struct StoredState: Hashable, Sendable {
  /// The version of the last copy or deletion that came from the remote.
  public var version: Version
  /// Whether the record is deleted. The version stays, so that no older copy reappears.
  public var isDeleted: Bool
  /// Whether the stored payload has exactly the bytes of the given copy.
  public var hasSamePayload: Bool
  /// Whether the current or last complete listing held the record.
  public var isMarked: Bool

  /// Creates the state of a stored record.
  public init(version: Version, isDeleted: Bool, hasSamePayload: Bool, isMarked: Bool) {
    self.version = version
    self.isDeleted = isDeleted
    self.hasSamePayload = hasSamePayload
    self.isMarked = isMarked
  }
}
