/// The records that readers have to read again.
public enum ChangedRecords: Hashable, Sendable {
  /// These records, each once.
  case records([RecordID])
  /// Everything: the records are too many to list, or not known.
  case everything

  /// The most records that an event lists.
  package static let limit = 10_000

  /// Whether no record changed.
  public var isEmpty: Bool { self == .records([]) }

  /// Adds a record, up to a limit.
  package mutating func insert(_ id: RecordID, limit: Int = limit) {
    guard case .records(var ids) = self else { return }
    self = .everything
    if ids.count < limit {
      ids.append(id)
      self = .records(ids)
    }
  }
}
