import SyncModels
import SyncPorts

/// One edit as it was sent, with the remote's answer.
struct PushAnswer: Hashable, Sendable {
  var entry: OutboxEntry
  var outcome: PushOutcome
  /// Whether no earlier attempt at the edit can have taken effect.
  var isFirstAttempt = false
  /// Whether an earlier attempt may have taken effect, which an outcome of this one does not tell.
  var isInDoubt = false
}

/// The result of one edit that was sent.
enum SettlementResult: Hashable, Sendable {
  /// The remote has the edit.
  case accepted
  /// The remote state won; nothing is left to send.
  case lost
  /// The edit had a conflict, and stays on top of the remote state.
  case rebased(OutboxEntry)
  /// The edit had a conflict that cannot be resolved before the next pull.
  case unresolved
  /// The edit stays in the outbox: refused, postponed, or without room at the remote.
  case refused, postponed, noRoom
  /// Another edit of its group was not applied, and so it was not either.
  case notApplied
}

/// Settles the remote's answers to a batch, in one transaction.
struct PushSettlement: Sendable {
  var entity: Entity
  /// The context of the settlement, before the type's checkpoint is known.
  var context: MergeContext
  var retry: RetryPolicy
  var answers: [PushAnswer]

  /// The results of the answers, in their order.
  struct Outcome: Sendable {
    var results: [SettlementResult] = []
    var tally = Tally()
    /// Edits that the remote refused for good, with its reasons.
    var refusals: [(id: RecordID, reason: String)] = []
    /// Records that the remote has given keys of its own.
    var moves: [(from: RecordID, to: RecordID)] = []
  }

  func run(in transaction: any StoreTransaction) throws(SyncError) -> Outcome {
    let now = context.now
    let checkpoint = try transaction.checkpoint(for: entity.type)
    var outcome = Outcome()
    var accepted: [(entry: OutboxEntry, remoteState: RemoteState)] = []
    accepted.reserveCapacity(answers.count)
    var met: [RemoteState] = []
    var merge = PageMerge(entity, context: context.following(checkpoint))
    // A move changes the edits of other records, so it comes before they are read.
    for place in answers.indices {
      guard case .moved(let copy) = answers[place].outcome,
        case .upsert(let record) = RecordChange.upsert(copy).stamped(epoch: checkpoint?.epoch ?? 0)
      else { continue }
      let sent = answers[place].entry.id
      let move = RecordMove(sent, to: record, by: merge, in: transaction)
      if let entry = try move.run(&merge.tally) {
        accepted.append((entry, .copy(record)))
      } else if !answers.contains(where: { $0.entry.id == record.id }) {
        // An answer about the record itself is later.
        met.append(.copy(record))
      }
      outcome.moves.append((sent, record.id))
    }
    if outcome.moves.count > 1 {
      // A move has changed the edits of records that refer to its record, and moved before.
      let current = try transaction.edits(of: accepted.map(\.entry.id))
      accepted = accepted.map { (current[$0.entry.id] ?? $0.entry, $0.remoteState) }
    }
    let before = try transaction.editsInTurn(of: answers.map(\.entry.id))
    var remoteStates: [RecordID: RemoteState] = [:]
    var unapplied: [RecordID] = []
    var kept = KeptEntries()
    for (place, answer) in answers.enumerated() {
      let remoteState = answer.remoteState(in: checkpoint?.epoch ?? 0)
      if !answer.outcome.isApplied {
        remoteStates[answer.entry.id] = remoteState
        unapplied.append(answer.entry.id)
      }
      if case .moved = answer.outcome { continue }
      guard let entry = before[place] else {
        // Without an entry, the remote's copy is merged like any other.
        if let remoteState { met.append(remoteState) }
        continue
      }
      switch answer.outcome {
      case .accepted:
        if let remoteState {
          accepted.append((entry, remoteState))
        } else {
          kept.finish(entry)
        }
      case .conflict(.malformed(let malformed)?):
        let reason = "The remote's record with this id is malformed: it \(malformed.reason)."
        kept.refuse(entry, reason: reason, at: now)
      case .conflict:
        if let remoteState {
          met.append(remoteState)
          // Another replica has written what the remote has, even if it equals the edit.
          if answer.isFirstAttempt, entry.sent == answer.entry.sent {
            kept.withdraw(entry.onServed(remoteState))
          }
        } else if entry.base == .none {
          // The remote refuses the creation, and reports no record that is in the way.
          kept.keep(entry, as: .postponed(until: now + pause(nil, entry)))
        } else {
          kept.forgetBase(of: entry, entity)
        }
      case .moved: break
      case .unknown(let reason?):
        kept.hold(entry, as: .refused(reason: reason, at: now))
        outcome.refusals.append((entry.id, reason))
      case .unknown(nil):
        kept.hold(entry, as: .postponed(until: now + pause(nil, entry)))
      case .refused(let reason):
        kept.refuse(entry, reason: reason, at: now)
      case .retryLater(let pause):
        kept.keep(entry, as: .postponed(until: now + self.pause(pause, entry)), isInDoubt: answer.isInDoubt)
      case .quotaExceeded:
        // The record's deletion, which makes room, does not wait for an edit that finds none.
        kept.keep(entry, as: .waiting, isInDoubt: answer.isInDoubt && entry.isNewToTheRemote)
      case .notApplied:
        kept.withdraw(entry)
      }
    }
    try kept.write(in: transaction)
    if kept.isAnyPostponed { try Postponement.persist(entity.type, at: now, in: transaction) }
    try merge.settle(accepted: accepted, met: met, in: transaction)
    if accepted.contains(where: { $0.entry.attempts > 1 }) {
      // An earlier attempt may have taken effect long ago, and a listing has skipped what happened
      // to the record since.
      try ListingGap.answered(entity.type, in: transaction)
    }
    try ArrivedDuplicates.remember(merge.tally.changed, of: context.schema, in: transaction)
    // The outcomes of the other edits follow from their entries afterwards.
    let after = unapplied.isEmpty ? [:] : try transaction.edits(of: unapplied)
    outcome.results = answers.indices.map { place in
      let id = answers[place].entry.id
      return answers[place].result(
        before: before[place], after: after[id], remoteState: remoteStates[id],
        serverManagedFields: entity.remote.serverManagedFields)
    }
    outcome.tally = merge.tally
    outcome.refusals += kept.refusals
    return outcome
  }

  /// Returns the pause of a postponed edit: as the remote asks, up to the longest one.
  private func pause(_ asked: Duration?, _ entry: OutboxEntry) -> Duration {
    min(asked ?? retry.ceiling(afterFailures: max(1, entry.attempts)), Postponement.longest)
  }
}

extension OutboxEntry {
  /// Returns a rebuild's deletion of a bundled record, on the remote's copy if that has all of the bundled one.
  ///
  /// The pull before has brought no change of the record. The remote may have added members of its own
  /// to it, which a bundle lacks.
  fileprivate func onServed(_ remoteState: RemoteState) -> OutboxEntry {
    guard loser != nil, let bundled = base.record, bundled.version == .unversioned,
      remoteState.fulfils(.upsert(bundled.payload, schemaVersion: bundled.schemaVersion), on: .none)
    else { return self }
    var entry = self
    entry.base = remoteState.base
    return entry
  }
}

extension PushAnswer {
  /// Returns the remote state, with the epoch that the engine counts.
  ///
  /// A record that the remote does not know counts as deleted, at its last known version.
  fileprivate func remoteState(in epoch: Int64) -> RemoteState? {
    switch outcome {
    case .accepted(let change), .conflict(let change?): return RemoteState(change.stamped(epoch: epoch))
    case .conflict(nil):
      guard let record = entry.base.record else { return nil }
      return .deletion(Tombstone(id: record.id, version: record.version))
    case .moved, .unknown, .refused, .retryLater, .quotaExceeded, .notApplied: return nil
    }
  }

  /// Returns what the answer has led to. Few answers need more than their outcome.
  fileprivate func result(
    before: @autoclosure () -> OutboxEntry?, after: @autoclosure () -> OutboxEntry?,
    remoteState: @autoclosure () -> RemoteState?, serverManagedFields: [FieldName]
  ) -> SettlementResult {
    switch outcome {
    case .accepted, .moved: return .accepted
    case .unknown(let reason): return reason == nil ? .postponed : .refused
    case .refused, .conflict(.malformed?):
      if case .refused? = after()?.state { return .refused }
      return .unresolved
    case .retryLater: return .postponed
    case .quotaExceeded: return .noRoom
    case .notApplied: return .notApplied
    case .conflict:
      guard var before = before() else { return .lost }
      let (after, remoteState) = (after(), remoteState())
      if case .postponed? = after?.state { return .postponed }
      if !isFirstAttempt || after == nil, after != before, let remoteState {
        let entry = entry.taking(serverManagedFields, of: remoteState)
        if let sent = entry.sent, remoteState.fulfils(sent.content, on: entry.base) { return .accepted }
      }
      guard let after else { return .lost }
      if isFirstAttempt { before.sent = nil }
      return after == before ? .unresolved : .rebased(after)
    }
  }
}

/// Entries whose answers say nothing about the remote state.
///
/// They stay in the outbox, unless their edit was applied.
private struct KeptEntries {
  var done: [RecordID] = []
  var queue: [OutboxEntry] = []
  var moot: [OutboxEntry] = []
  var rows: [Record] = []
  var refusals: [(id: RecordID, reason: String)] = []

  /// Whether an edit waits for a time.
  var isAnyPostponed: Bool { queue.contains { if case .postponed = $0.state { true } else { false } } }

  /// Keeps a refused edit from being sent again. A newer edit of the record stays due.
  mutating func refuse(_ entry: OutboxEntry, reason: String, at now: Timestamp) {
    let isNewer = entry.sent != nil && entry.sent != entry.edit
    if !isNewer { refusals.append((entry.id, reason)) }
    keep(entry, as: isNewer ? .waiting : .refused(reason: reason, at: now))
  }

  mutating func keep(_ entry: OutboxEntry, as state: OutboxEntry.State, isInDoubt: Bool = false) {
    if isInDoubt { return hold(entry, as: state) }
    var entry = entry
    if entry.sent != entry.edit { entry.attempts = 0 }
    entry.sent = nil
    entry.state = state
    if entry.isMoot { moot.append(entry) } else { queue.append(entry) }
  }

  /// Keeps an edit that the remote may have received. Nothing else of the record is sent before.
  mutating func hold(_ entry: OutboxEntry, as state: OutboxEntry.State) {
    var entry = entry
    entry.state = state
    queue.append(entry)
  }

  /// Remembers that the remote has not received a sent edit.
  mutating func withdraw(_ entry: OutboxEntry) {
    var entry = entry
    entry.sent = nil
    queue.append(entry)
  }

  /// Ends an edit that was applied, whose record is malformed at the remote by now.
  ///
  /// The next pull quarantines that copy. A newer edit of the record stays due.
  mutating func finish(_ entry: OutboxEntry) {
    if entry.sent == entry.edit { done.append(entry.id) } else { keep(entry, as: .waiting) }
  }

  /// Turns an edit of a record unknown to the remote into a creation.
  mutating func forgetBase(of entry: OutboxEntry, _ entity: Entity) {
    var entry = entry
    entry.base = .none
    if case .live(let record) = entry.row(of: entity) { rows.append(record) }
    keep(entry, as: .waiting)
  }

  func write(in transaction: any StoreTransaction) throws(SyncError) {
    if !rows.isEmpty { try transaction.put(rows) }
    if !queue.isEmpty { try transaction.queue(queue) }
    if !done.isEmpty { try transaction.endEdits(done) }
    try transaction.giveUp(moot)
  }
}

/// The failure of the remote at an edit that was sent alone.
struct EditFailure: Hashable, Sendable {
  var reason: String
  /// Whether the remote accepted other edits meanwhile, so that this edit is the cause.
  var isProven: Bool
  /// Whether the remote was unavailable for the edit, rather than rejected it.
  private var isOutage: Bool

  /// - Parameter afterOutage: Whether the remote was unavailable for an earlier attempt of the push.
  init(_ error: SyncError, isProven: Bool, afterOutage: Bool = false) {
    self.isProven = isProven
    reason = Self.preface + (error.message.isEmpty ? error.code.description : error.message)
    isOutage = error.code == .remoteUnavailable || afterOutage
  }

  private static let preface = "The remote fails at this edit: "

  /// Whether such a failure is why an edit is refused.
  static func isReason(of entry: OutboxEntry) -> Bool {
    if case .refused(let reason, _) = entry.state { reason.hasPrefix(preface) } else { false }
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
      if case .postponed = stored.state { try Postponement.persist(entry.id.type, at: now, in: transaction) }
    }
    return stored.state
  }
}

/// Postponed edits of a type, with the clock's time of their postponement.
///
/// A postponed edit becomes due early if the clock is set back to before its postponement, or if
/// its time is more than a day ahead. A clock that was ahead and is corrected thus does not delay
/// edits for as long as it was wrong.
enum Postponement {
  /// The longest pause of an edit, whatever the remote asks for.
  static let longest = Duration.seconds(86_400)

  /// Saves that edits of a type are postponed now.
  static func persist(_ type: RecordType, at now: Timestamp, in transaction: any StoreTransaction)
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

extension MergeContext {
  /// Returns the context for changes that are merged between the passes of a type.
  ///
  /// A record that a push learns of counts as listed: it must not be swept.
  func following(_ checkpoint: Checkpoint?) -> MergeContext {
    var context = self
    context.pass = checkpoint?.lastPass ?? 0
    context.markPass = checkpoint?.markPass
    return context
  }
}
