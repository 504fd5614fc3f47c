import SyncModels
import SyncPorts

/// Postponed edits of a type, with the clock's time of their postponement.
///
/// A postponed edit becomes due early if the clock is set back to before its postponement, or if
/// its time is more than a day ahead. A clock that was ahead and is corrected thus does not delay
/// edits for as long as it was wrong.
enum Postponement {
  /// The longest pause of an edit, whatever the remote asks for.
  static let longest = Duration.seconds(86_400)

  /// Notes that edits of a type are postponed now.
  static func note(_ type: RecordType, at now: Timestamp, in transaction: any StoreTransaction)
    throws(SyncError)
  {
    try transaction.set(now, for: key(type))
  }

  /// Makes edits due that were postponed by a clock that was ahead.
  ///
  /// - Returns: Whether there were any.
  static func makeDue(
    _ entries: [OutboxEntry], of type: RecordType, at now: Timestamp, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    let waiting = entries.compactMap { entry in
      if case .postponed(let until) = entry.state, until > now { (entry, until) } else { nil }
    }
    guard !waiting.isEmpty else { return false }
    let noted = try transaction.value(of: key(type))
    let isPutBack = noted.map { $0 > now } ?? false
    let due = waiting.filter { isPutBack || $0.1 > now + longest }.map { entry, _ in
      var entry = entry
      entry.state = .waiting
      return entry
    }
    if !due.isEmpty { try transaction.queue(due) }
    return !due.isEmpty
  }

  private static func key(_ type: RecordType) -> ValueKey<Timestamp> {
    ValueKey(.postponements, type.rawValue)
  }
}
