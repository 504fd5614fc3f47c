public import SyncModels

/// The state of a record's edit, as an app shows it beside the record.
///
/// ``LocalEdits/waiting(_:after:limit:)`` tells more, such as the records that an edit waits for.
public enum EditState: Hashable, Sendable {
  /// The edit waits for a push.
  case pending
  /// The app keeps the edit as a draft; see ``LocalEdits/hold(_:)``.
  case draft
  /// The edit was sent, and the remote has not answered yet.
  case sent
  /// The remote did not take the edit at this time. A push after this instant sends it again.
  case failed(retryAt: Timestamp)
  /// The remote refused the edit for good, with this reason of its own.
  ///
  /// It is sent again after another edit of the record, or by ``LocalEdits/retry(_:_:)``.
  case refused(reason: String)

  init(_ entry: OutboxEntry) {
    switch entry.state {
    case .refused(let reason, _): self = entry.isDraft ? .draft : .refused(reason: reason)
    case .postponed(let until): self = .failed(retryAt: until)
    case .waiting: self = entry.sent == nil ? .pending : .sent
    }
  }
}
