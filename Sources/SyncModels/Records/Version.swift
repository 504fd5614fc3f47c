/// The position of a remote copy in the remote's own order of changes.
///
/// A pull replaces a copy with a copy of a greater version. The order is the server's, never a
/// client clock's. It does not decide between edits: edit stamps do. A push's precondition is the
/// ``Record/entityTag``.
public struct Version: Hashable, Sendable, Codable {
  /// The epoch of the remote, counted by the engine.
  ///
  /// After a wipe or a change of remote every copy is newer than any earlier one. Sources leave it
  /// at 0.
  public var epoch: Int64
  /// The remote's number for the change or scan; 0 for a remote with times only.
  public var sequence: Int64
  /// When the remote last modified the record, by the remote's clock.
  public var modifiedAt: Timestamp

  /// Creates a version.
  public init(epoch: Int64 = 0, sequence: Int64 = 0, modifiedAt: Timestamp) {
    self.epoch = epoch
    self.sequence = sequence
    self.modifiedAt = modifiedAt
  }

  /// The version of a row that came from no remote, such as a bundled one.
  ///
  /// It loses to every other version.
  public static let unversioned = Version(
    epoch: .min, sequence: .min, modifiedAt: Timestamp(microseconds: .min))

  /// The version of a copy or deletion that a remote gives neither a number nor a time.
  package static let undated = Version(modifiedAt: Timestamp(microseconds: 0))

  /// Whether the remote gave neither a number nor a time.
  package var isUndated: Bool { (sequence, modifiedAt) == (Self.undated.sequence, Self.undated.modifiedAt) }
}

extension Version: Comparable, CustomStringConvertible {
  /// Orders by epoch, then by sequence, then by modification time.
  public static func < (a: Version, b: Version) -> Bool {
    (a.epoch, a.sequence, a.modifiedAt) < (b.epoch, b.sequence, b.modifiedAt)
  }

  /// The parts that are not zero, or `unversioned`.
  public var description: String {
    if self == .unversioned { return "unversioned" }
    return "\(epoch == 0 ? "" : "\(epoch):")#\(sequence)@\(modifiedAt)"
  }
}
