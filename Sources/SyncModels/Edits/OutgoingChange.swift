/// One edit on its way to the remote.
public struct OutgoingChange: Hashable, Sendable {
  /// The record.
  public let id: RecordID
  /// The record's new state.
  public var content: Edit.Content
  /// The remote state that the edit applies to. Any other state is a conflict.
  public var base: OutboxEntry.Base
  /// The idempotency key: the same at every attempt.
  public var key: IdempotencyKey
  /// When the edit was made.
  public var stamp: EditStamp
  /// Whether the change was sent before, and its answer never came: the remote may have it already.
  public var mayHaveArrived: Bool
  /// Whether the app edits a bundled record, or a default, that the remote has not reported yet.
  ///
  /// The base is `none`, but the record may exist under this key. A remote that gives new records keys
  /// of its own would make another one.
  public var isBundled: Bool

  /// Creates an outgoing change.
  public init(
    id: RecordID, content: Edit.Content, base: OutboxEntry.Base, key: IdempotencyKey, stamp: EditStamp,
    mayHaveArrived: Bool = false, isBundled: Bool = false
  ) {
    self.id = id
    self.content = content
    self.base = base
    self.key = key
    self.stamp = stamp
    self.mayHaveArrived = mayHaveArrived
    self.isBundled = isBundled
  }
}

/// The remote's answer to one edit.
public enum PushOutcome: Hashable, Sendable {
  /// The edit was applied, now or at an earlier attempt. The value is the record's current remote
  /// state.
  ///
  /// If the remote kept the payload as sent, the copy may hold the sent payload.
  case accepted(RecordChange)
  /// The edit was applied, now or at an earlier attempt, and the record has another key at the remote:
  /// one of the remote's own for a new record, or one that the edit leads to, such as a new name.
  ///
  /// The value is the record's current remote state. Nothing is left under the former key.
  ///
  /// In the store, the record and its edits move to that key, and so do the references to it.
  case moved(Record)
  /// Whether the edit was applied is not known.
  ///
  /// It is sent again unchanged. With a reason, that might apply it twice: the edit waits until the
  /// app retries or discards it.
  case unknown(reason: String?)
  /// The remote state differs from the edit's base.
  ///
  /// The value is that state, or `nil` if the remote has no such record.
  case conflict(RecordChange?)
  /// The remote refuses the edit for good, for this reason.
  case refused(reason: String)
  /// The edit was not applied, and may be sent again later.
  case retryLater(after: Duration?)
  /// The edit was not applied: the remote's storage is full.
  case quotaExceeded
  /// The edit was not applied, because another one of its atomic group was not.
  ///
  /// Only a group has this outcome. The edit is sent again with its group.
  case notApplied
}

extension PushOutcome {
  /// Whether the edit was applied, now or at an earlier attempt.
  package var isApplied: Bool {
    switch self {
    case .accepted, .moved: true
    case .conflict, .unknown, .refused, .retryLater, .quotaExceeded, .notApplied: false
    }
  }
}

/// The most that a sink takes in one batch.
public struct SinkLimits: Hashable, Sendable {
  /// The most changes in a batch, 1 or more.
  public var maximumRecords: Int
  /// The most payload bytes in a batch of more than one change.
  public var maximumBytes: Int

  /// Creates limits.
  public init(maximumRecords: Int = 100, maximumBytes: Int = 1_000_000) {
    self.maximumRecords = maximumRecords
    self.maximumBytes = maximumBytes
  }
}
