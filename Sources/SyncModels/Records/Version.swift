/// Where a remote copy of a record stands in the remote's own order of changes.
///
/// Pulling replicates by this order: a copy with a greater version replaces one with a smaller. It is the server's order,
/// never a client's clock, and it is not the order in which edits win (``Record/entityTag`` and edit stamps are apart).
public struct Version: Hashable, Sendable, Codable {
  /// Which of the remote's lives it belongs to, counted by the engine: after a wipe or a change of remote every copy is newer than
  /// any from before. Sources leave it at 0.
  public var epoch: Int64
  /// The number that the remote counts changes (or scans) by; 0 where it only has times.
  public var sequence: Int64
  /// When the remote last modified the record, by the remote's clock.
  public var modifiedAt: Timestamp

  /// A place in the remote's order.
  public init(epoch: Int64 = 0, sequence: Int64 = 0, modifiedAt: Timestamp) {
    self.epoch = epoch
    self.sequence = sequence
    self.modifiedAt = modifiedAt
  }

  /// The version of a row that no remote has vouched for, such as a bundled one: it loses to every other.
  public static let unversioned = Version(
    epoch: .min, sequence: .min, modifiedAt: Timestamp(microseconds: .min))
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
