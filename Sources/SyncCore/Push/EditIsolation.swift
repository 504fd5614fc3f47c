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

  /// Whether an edit that was sent so often is sent again by itself.
  func mayPass(after attempts: Int) -> Bool { !isProven || mayHaveArrived(after: attempts) }

  /// Whether an edit that was sent so often may be at the remote, which only could not say so.
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

  /// Writes down what became of the edit; an edit that was settled meanwhile is left alone.
  ///
  /// An edit made since has its own chance, once what was sent cannot have arrived.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> OutboxEntry.State? {
    guard var stored = try transaction.outbox(for: [entry.id]).first, stored.sent == entry.sent else {
      return nil
    }
    let isNewer = stored.sent != stored.edit
    let mayPass =
      isNewer ? failure.mayHaveArrived(after: stored.attempts) : failure.mayPass(after: stored.attempts)
    if mayPass {
      let doublings = min(max(0, stored.attempts - 1), 10)
      // What was sent may have arrived all the same: it goes out again as it was, before anything newer.
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
      if case .postponed = stored.state { try PutOff.note(entry.id.type, at: now, in: transaction) }
    }
    return stored.state
  }
}
