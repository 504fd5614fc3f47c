/// One edit on its way to the remote.
public struct OutgoingChange: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// What it is to be.
  public var content: Edit.Content
  /// What the remote has to have for the edit to be applied; anything else is a conflict.
  public var base: OutboxEntry.Base
  /// The name of this effect: the same at every attempt.
  public var key: IdempotencyKey
  /// When the edit was made.
  public var stamp: EditStamp

  /// Describes an edit on its way.
  public init(
    id: RecordID, content: Edit.Content, base: OutboxEntry.Base, key: IdempotencyKey, stamp: EditStamp
  ) {
    self.id = id
    self.content = content
    self.base = base
    self.key = key
    self.stamp = stamp
  }
}

/// What the remote said to one edit.
public enum PushOutcome: Hashable, Sendable {
  /// It was applied, now or at an earlier attempt: the record's state as the remote has it now.
  ///
  /// A copy whose payload the remote left as it was sent may be given with that payload.
  case accepted(RecordChange)
  /// The remote has something else than the edit was made on: this, or nothing if it knows of no such record.
  case conflict(RecordChange?)
  /// The remote will not have it, for this reason, however often it is asked.
  case refused(reason: String)
  /// Not now; it was not applied.
  case retryLater(after: Duration?)
  /// There is no room for it at the remote; it was not applied.
  case quotaExceeded
}

/// How much a sink takes at once.
public struct SinkLimits: Hashable, Sendable {
  /// The most changes in a batch, 1 or more.
  public var maximumRecords: Int
  /// The most payload bytes in a batch of more than one change.
  public var maximumBytes: Int

  /// Describes limits.
  public init(maximumRecords: Int = 100, maximumBytes: Int = 1_000_000) {
    self.maximumRecords = maximumRecords
    self.maximumBytes = maximumBytes
  }
}
