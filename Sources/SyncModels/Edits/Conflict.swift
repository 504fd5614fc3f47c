/// An edit that met another one at the remote, with both of them and how it was settled.
public struct Conflict: Hashable, Sendable {
  /// The conflict's place in the log, given by the store; 0 before.
  public var number: Int64
  /// The record that both edited.
  public var id: RecordID
  /// When it was settled.
  public var settledAt: Timestamp
  /// The local edit.
  public var local: Edit
  /// What the remote has: a copy or a tombstone. A copy's ``Record/fields`` are not kept and are empty.
  public var remote: RecordChange
  /// The stamp that the remote's side was compared by.
  public var remoteStamp: EditStamp
  /// The payload that both started from, where there was one.
  public var base: Payload?
  /// Whose word stands.
  public var winner: Winner
  /// Why, for a person; without record contents.
  public var reason: String

  /// Describes a conflict.
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

  /// Whose word stands.
  public enum Winner: String, Hashable, Sendable, Codable {
    /// The app's: it is pushed on top of the remote's.
    case local
    /// The remote's: the local edit is gone from the outbox, and is here.
    case remote
    /// Both, field by field: the result is pushed.
    case merged
  }
}
