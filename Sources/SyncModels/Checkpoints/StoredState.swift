/// What a merge has to know of a record in the store, and no more.
public struct StoredState: Hashable, Sendable {
  /// The version of the last copy, or deletion, that came from the remote.
  public var version: Version
  /// Whether the record is deleted, and only its version kept so that nothing older shows.
  public var isDeleted: Bool
  /// Whether the stored payload has the very bytes of the copy asked about.
  public var hasSamePayload: Bool
  /// Whether the complete listing that is under way, or was last, has held the record.
  public var isMarked: Bool

  /// Describes a stored record.
  public init(version: Version, isDeleted: Bool, hasSamePayload: Bool, isMarked: Bool) {
    self.version = version
    self.isDeleted = isDeleted
    self.hasSamePayload = hasSamePayload
    self.isMarked = isMarked
  }
}
