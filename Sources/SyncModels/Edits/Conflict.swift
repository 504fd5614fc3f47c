/// A local edit that met a different change at the remote, and its resolution.
public struct Conflict: Hashable, Sendable, Codable {
  /// The conflict's number in the log, assigned by the store; 0 before that.
  public var number: Int64
  /// The record that both sides changed.
  public var id: RecordID
  /// When the conflict was resolved.
  public var settledAt: Timestamp
  /// The local edit.
  public var local: Edit
  /// The remote state: a copy or a tombstone. A copy's ``Record/fields`` are not kept and are
  /// empty.
  public var remote: RecordChange
  /// The stamp by which the remote state was compared.
  public var remoteStamp: EditStamp
  /// The payload from which both sides started, if there was one.
  public var base: Payload?
  /// The side that won.
  public var winner: Winner
  /// The reason, for a person; without record contents.
  public var reason: String

  /// Creates an entry of the conflict log.
  public init(
    number: Int64 = 0, id: RecordID, settledAt: Timestamp, local: Edit, remote: RecordChange,
    remoteStamp: EditStamp, base: Payload?, winner: Winner, reason: String
  ) {
    self.number = number
    self.id = id
    self.settledAt = settledAt
    self.local = local
    self.remote = remote
    self.remoteStamp = remoteStamp
    self.base = base
    self.winner = winner
    self.reason = reason
  }

  /// The side that won a conflict.
  public enum Winner: String, Hashable, Sendable, Codable {
    /// The local edit. It is pushed on top of the remote state.
    case local
    /// The remote state. The local edit has left the outbox and is kept in the conflict.
    case remote
    /// Both sides, merged field by field. The result is pushed.
    case merged
  }
}
