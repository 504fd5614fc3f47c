import SyncModels
import SyncPorts

/// Edits that wait for an instant, and the clock that it was read from.
///
/// An instant is believed only as far as the clock goes on from where it was when the instant was noted, and for a day at most: a clock that was ahead and is put
/// right must not keep edits waiting for as long as it was wrong.
enum PutOff {
  /// The longest that an edit is put off, whatever the remote asks for.
  static let longest = Duration.seconds(86_400)

  /// Notes that edits of a type are put off now.
  static func note(_ type: RecordType, at now: Timestamp, in transaction: any StoreTransaction)
    throws(SyncError)
  {
    try transaction.encode(now, forKey: key(type))
  }

  /// Lets those of some edits go out that were put off by a clock that was ahead.
  ///
  /// - Returns: Whether there were any.
  static func wake(
    _ entries: [OutboxEntry], of type: RecordType, at now: Timestamp, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    let waiting = entries.compactMap { entry in
      if case .postponed(let until) = entry.state, until > now { (entry, until) } else { nil }
    }
    guard !waiting.isEmpty else { return false }
    let noted = try transaction.decoded(Timestamp.self, forKey: key(type))
    let isPutBack = noted.map { $0 > now } ?? false
    let due = waiting.filter { isPutBack || $0.1 > now + longest }.map { entry, _ in
      var entry = entry
      entry.state = .waiting
      return entry
    }
    if !due.isEmpty { try transaction.queue(due) }
    return !due.isEmpty
  }

  private static func key(_ type: RecordType) -> String { "put-off/\(type)" }
}
