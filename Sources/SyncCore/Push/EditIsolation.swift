import SyncModels
import SyncPorts

/// The failure of the remote at an edit that was sent alone.
struct EditFailure: Hashable, Sendable {
  var reason: String
  /// Whether the remote accepted other edits meanwhile, so that this edit is the cause.
  var isProven: Bool
  /// Whether the remote was unavailable for the edit, rather than rejected it.
  private var isOutage: Bool

  init(_ error: SyncError, isProven: Bool) {
    self.isProven = isProven
    reason =
      "The remote fails at this edit: \(error.message.isEmpty ? error.code.description : error.message)"
    isOutage = error.code == .remoteUnavailable
  }

  /// The most attempts at an edit that alone finds the remote unavailable.
  private static let limit = 4

  /// Whether the edit is sent again by itself after a number of attempts.
  func mayPass(after attempts: Int) -> Bool { !isProven || mayHaveArrived(after: attempts) }

  /// Whether the edit may have reached the remote, after a number of attempts.
  ///
  /// The remote may have been unable to answer.
  func mayHaveArrived(after attempts: Int) -> Bool { isOutage && attempts < Self.limit }
}

/// Keeps an edit at which the remote fails out of the next pushes.
///
/// It is refused, or postponed for longer each time.
struct EditIsolation: Sendable {
  /// The edit, as it was sent.
  var entry: OutboxEntry
  var failure: EditFailure
  var now: Timestamp

  /// The pauses of a failed edit, doubled from the shortest to the longest.
  private static let pauses = (shortest: Duration.seconds(60), longest: Duration.seconds(3600))

  /// Saves the outcome of the edit.
  ///
  /// An edit that was settled meanwhile is left alone. A newer edit of the record is due once the
  /// sent edit cannot have arrived.
  ///
  /// - Returns: The state of the entry; `nil` if it was left alone.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> OutboxEntry.State? {
    guard var stored = try transaction.outbox(for: [entry.id]).first, stored.sent == entry.sent else {
      return nil
    }
    let isNewer = stored.sent != stored.edit
    let mayPass =
      isNewer ? failure.mayHaveArrived(after: stored.attempts) : failure.mayPass(after: stored.attempts)
    if mayPass {
      let doublings = min(max(0, stored.attempts - 1), 10)
      // The sent edit may have arrived all the same, so it is sent again unchanged, before any
      // newer edit.
      stored.state = .postponed(
        until: now + min(Self.pauses.longest, Self.pauses.shortest * (1 << doublings)))
    } else if isNewer {
      (stored.sent, stored.state, stored.attempts) = (nil, .waiting, 0)
    } else {
      (stored.sent, stored.state) = (nil, .refused(reason: failure.reason, at: now))
    }
    if stored.isMoot {
      try transaction.giveUp([stored])
    } else {
      try transaction.queue([stored])
      if case .postponed = stored.state { try Postponement.note(entry.id.type, at: now, in: transaction) }
    }
    return stored.state
  }
}
