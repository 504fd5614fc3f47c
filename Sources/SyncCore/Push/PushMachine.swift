import SyncModels
import SyncPorts

/// Decides each step of a push, and performs none of them.
///
/// The runner reports events, and the machine returns the next step. One step is under way at a
/// time, and the machine holds at most a portion of the outbox. First come inserts and updates,
/// type by type and targets first, then deletions in the reverse order. A batch is prepared in the
/// store before it is sent, and its answers are settled in the store before the next batch.
struct PushMachine {
  /// A step.
  enum Action: Hashable {
    case askLimits
    case load(PushPortion)
    /// Save edits as sent: those of a batch in the current stage, or an atomic group in no stage.
    case prepare([RecordID], PushPortion.Stage?)
    case send([OutgoingChange], isGroup: Bool = false)
    case settle([PushAnswer])
    /// Keep edits at which the remote fails out of the next push: one, or a group.
    case isolate([OutboxEntry], EditFailure)
    case wait(Duration)
    case onStorageFull
    case finish
    case fail(SyncError.Code)
  }

  /// The machine's settings besides the outbox.
  struct Settings {
    /// The number of entries to read at once.
    var portion = 400
    var retry = RetryPolicy()
    /// The number of conflicts of one edit before it is left for the next sync.
    var rounds = 5
  }

  /// Types whose edits the remote rejected altogether, with the errors.
  var typeFailures: [(type: RecordType, error: SyncError)] = []
  /// Edits that failed alone, if the remote is not known to accept any.
  var suspects: [EditSearch.Suspect] = []
  /// Whether the remote has applied an atomic group.
  private(set) var hasAppliedGroups = false

  let settings: Settings
  var state = State.new
  private var limits = SinkLimits()
  var legs: ArraySlice<Leg>
  /// Edits of the current leg that are read and not prepared.
  private var queue = PushQueue()
  /// Batches that are prepared and not settled; the first one is being sent.
  var batches: [PushBatch] = []
  private var conflicts: [RecordID: Int] = [:]
  /// Edits whose requests failed, in this push or an earlier one, perhaps after they had taken effect.
  private var unanswered: Set<RecordID> = []
  /// Edits that were sent while the remote was unavailable, perhaps after they had taken effect.
  private var outages: Set<RecordID> = []
  /// Edits that had too many conflicts, or have failed in a push before.
  private var leftAlone: Set<RecordID> = []
  private var room = Room.enough
  /// Edits for which the remote had no room.
  private var starved: [PushCandidate] = []
  /// The search for edits at fault, after a batch used up its attempts.
  var search: EditSearch?

  /// The step that is under way.
  ///
  /// - `new` becomes `askingLimits`, or `ended` if there are no edits.
  /// - `askingLimits` stays during the pauses between its attempts.
  /// - Then the next step is chosen again and again: the first prepared batch is `sending`.
  ///   Otherwise a part of the queue is `preparing`, otherwise a portion of the outbox is
  ///   `loading`, and at its end the push has `ended`.
  /// - `sending` stays during the pauses between its attempts. It becomes `settling`, and after a
  ///   failure that may be an edit's own `isolating`, `pausing`, or the next step.
  /// - Before the next step, edits without room are shown to the app once, `makingRoom`.
  enum State {
    case new
    case askingLimits(failures: Int)
    case loading
    case preparing(isGroup: Bool)
    /// The first batch is being sent, or waits for its next attempt.
    case sending(failures: Int)
    case settling
    /// An edit at fault is being isolated, before the pause that the remote asked for.
    case isolating(pause: Duration?)
    case pausing
    case makingRoom
    case ended(SyncError?)
  }

  /// The room at the remote.
  private enum Room {
    case enough
    /// There was none, and the app was asked to make room.
    case askedFor
    /// There is none for records that are new to the remote.
    case updatesOnly
    case none
  }

  /// The edits of one type in one stage.
  struct Leg {
    let type: RecordType
    let stage: PushPortion.Stage
    /// The number of entries still to read: at first as many as there were at the start.
    ///
    /// An app that edits all the time thus cannot keep a push busy forever.
    var unread: Int
    var position = Position.after(nil)

    enum Position {
      /// The next portion begins after this stamp; `nil` for the beginning.
      case after(EditStamp?)
      case end
    }
  }

  /// Plans a push.
  ///
  /// - Parameter pending: The types that have edits, targets of references first, with their
  ///   numbers of edits.
  /// - Parameter stages: The stages to push.
  init(
    _ pending: [(type: RecordType, count: Int)], settings: Settings = Settings(),
    stages: Set<PushPortion.Stage> = [.upserts, .deletions]
  ) {
    self.settings = settings
    let upserts = pending.map { Leg(type: $0.type, stage: .upserts, unread: $0.count) }
    let deletions = pending.reversed().map { Leg(type: $0.type, stage: .deletions, unread: $0.count) }
    legs = (upserts + deletions).filter { stages.contains($0.stage) }[...]
  }

  /// Plans a further push of the same sync, without the types and edits that have failed in the one before.
  init(_ pending: [(type: RecordType, count: Int)], after former: PushMachine) {
    let denied = former.typeFailures.filter { !$0.error.isAboutEdits }.map(\.type)
    self.init(pending.filter { !denied.contains($0.type) }, settings: former.settings)
    leftAlone = Set(former.suspects.flatMap { $0.batch.entries.map(\.id) })
  }

  /// The current type.
  var type: RecordType? { legs.first?.type }

  /// Why the push ended, if it failed.
  var failure: SyncError? {
    if case .ended(let failure) = state { failure } else { nil }
  }

  /// Whether the remote has run out of room.
  var isRemoteFull: Bool {
    switch room {
    case .enough, .askedFor: false
    case .updatesOnly, .none: true
    }
  }

  /// The number of failed attempts at the current request.
  var failedAttempts: Int {
    switch state {
    case .askingLimits(let failures), .sending(let failures): failures
    case .new, .loading, .preparing, .settling, .isolating, .pausing, .makingRoom, .ended: 0
    }
  }

  /// Returns the first step.
  mutating func start() -> Action {
    if legs.isEmpty { return end(nil) }
    state = .askingLimits(failures: 0)
    return .askLimits
  }

  /// Records the sink's limits.
  mutating func limitsTold(_ limits: SinkLimits) -> Action {
    self.limits = SinkLimits(
      maximumRecords: max(1, limits.maximumRecords), maximumBytes: max(1, limits.maximumBytes))
    return next()
  }

  /// Records that a portion was read.
  mutating func loaded(_ portion: LoadedPortion) -> Action {
    if var leg = legs.first {
      leg.unread -= portion.count
      leg.position = portion.count < settings.portion || leg.unread <= 0 ? .end : .after(portion.last)
      legs[legs.startIndex] = leg
    }
    var edits = portion.candidates
    if !leftAlone.isEmpty { edits.removeAll { leftAlone.contains($0.entry.id) } }
    // A deletion that was sent before is in both stages, and a failure in both proves no more than
    // one.
    let failed = Set((search?.suspects ?? []).flatMap { $0.batch.entries.map(\.id) })
    if !failed.isEmpty { edits.removeAll { failed.contains($0.entry.id) } }
    if isRemoteFull { edits.removeAll(where: \.isNewToTheRemote) }
    queue = PushQueue(edits)
    conflicts = [:]
    return next()
  }

  /// Records that a batch is prepared in the store, with the entries to send.
  ///
  /// - Parameter resent: Those that an earlier push has sent, without an answer.
  mutating func prepared(_ entries: [OutboxEntry], resent: Set<RecordID> = []) -> Action {
    unanswered.formUnion(resent)
    if entries.isEmpty { return next() }
    var batch = PushBatch(entries)
    if case .preparing(isGroup: true) = state { batch.isGroup = true }
    if batch.isGroup, resent.isEmpty, !batch.fits(limits) {
      batches.insert(batch, at: 0)
      return settle(batch, as: .refused(reason: reasonWithout(roomFor: batch)))
    }
    batches.append(batch)
    return next()
  }

  /// Sends a batch.
  private func send(_ batch: PushBatch) -> Action {
    .send(
      batch.entries.map { entry in
        var change = entry.outgoing
        change.mayHaveArrived = unanswered.contains(entry.id)
        return change
      }, isGroup: batch.isGroup)
  }

  /// Records the sink's answer.
  ///
  /// - Parameter random: 64 random bits, for a retry.
  mutating func answered(_ outcomes: [PushOutcome], random: UInt64) -> Action {
    guard let sent = batches.first else { return next() }
    let batch = sent.entries
    guard outcomes.count == batch.count, batch.indices.allSatisfy({ outcomes[$0].isAbout(batch[$0]) }),
      sent.mayHave(outcomes)
    else {
      let error = SyncError(
        .invalidResponse, during: "pushing edits of \(type?.rawValue ?? "no type")",
        "The remote answered \(Counted(outcomes.count, "outcome")) to \(Counted(batch.count, "change")), or outcomes of other records, or applied a part of a group."
      )
      return failed(error, random: random)
    }
    // An edit that failed alone, before the remote was known to be there, is at fault if it fails
    // again.
    batches += (search?.answered() ?? []).map(\.batch)
    state = .settling
    return .settle(
      batch.indices.map { place in
        PushAnswer(
          entry: batch[place], outcome: outcomes[place],
          isFirstAttempt: batch[place].attempts == 1 && !unanswered.contains(batch[place].id),
          isInDoubt: unanswered.contains(batch[place].id))
      })
  }

  /// Records that the pause is over.
  mutating func waited() -> Action {
    switch state {
    case .askingLimits: .askLimits
    case .sending: batches.first.map(send) ?? next()
    case .new, .loading, .preparing, .settling, .isolating, .pausing, .makingRoom, .ended: next()
    }
  }

  /// Records that the sink's answers are settled, with the results in their order.
  mutating func settled(_ results: [SettlementResult]) -> Action {
    guard !batches.isEmpty else { return next() }
    let settled = batches.removeFirst()
    let batch = settled.entries
    if batches.isEmpty { search = nil }
    var again: [PushCandidate] = []
    // An edit of an earlier leg that failed alone was sent once more, and waits for the next sync:
    // a batch is of one type, unless it is a group.
    let isOfLeg = batch.contains { $0.id.type == type }
    for (place, result) in zip(batch.indices, results) {
      switch result {
      case .accepted: queue.settle(batch[place].id)
      case .lost: if legs.first?.stage != .deletions { queue.settle(batch[place].id) }
      case .rebased(let entry):
        if entry.base.record != nil, legs.first?.stage != .deletions { queue.settle(entry.id) }
        conflicts[entry.id, default: 0] += 1
        if conflicts[entry.id, default: 0] >= settings.rounds {
          leftAlone.insert(entry.id)
        } else if isOfLeg, !settled.isGroup,
          legs.first?.stage == .deletions || entry.edit.content != .deletion
        {
          again.append(PushCandidate(entry: entry))
        }
      case .noRoom: if isOfLeg, !settled.isGroup { starved.append(PushCandidate(entry: batch[place])) }
      case .unresolved, .refused, .postponed, .notApplied: break
      }
    }
    if settled.isGroup, results.contains(.accepted) { hasAppliedGroups = true }
    if settled.isGroup, isOfLeg { repeatGroup(batch, results) }
    queue.putFirst(again)
    return next()
  }

  /// Puts a group that was not applied back, if nothing keeps one of its edits from being sent again.
  private mutating func repeatGroup(_ batch: [OutboxEntry], _ results: [SettlementResult]) {
    let entries = zip(batch, results).map { entry, result in
      if case .rebased(let entry) = result { entry } else { entry }
    }
    let candidate = PushCandidate(entry: entries[0], others: Array(entries[1...]))
    let areAllLeft = results.allSatisfy {
      switch $0 {
      case .rebased, .notApplied, .noRoom: true
      case .accepted, .lost, .unresolved, .refused, .postponed: false
      }
    }
    guard areAllLeft, entries.allSatisfy({ !leftAlone.contains($0.id) }) else {
      return leftAlone.formUnion(entries.map(\.id))
    }
    if results.contains(.noRoom) { starved.append(candidate) } else { queue.putFirst([candidate]) }
  }

  /// Settles the first batch as if the remote had answered each of its edits alike.
  private mutating func settle(_ batch: PushBatch, as outcome: PushOutcome) -> Action {
    state = .settling
    return .settle(
      batch.entries.map { PushAnswer(entry: $0, outcome: outcome, isInDoubt: unanswered.contains($0.id)) })
  }

  /// Why the remote does not take a group at once.
  private func reasonWithout(roomFor batch: PushBatch) -> String {
    "Its atomic group has \(Counted(batch.entries.count, "edit")) of \(Counted(batch.size, "byte")), and the remote takes \(limits.maximumRecords) of \(Counted(limits.maximumBytes, "byte")) at once."
  }

  /// Records whether the app made room at the remote.
  mutating func roomMade(_ wasMade: Bool) -> Action {
    if wasMade {
      queue.putFirst(starved)
      starved = []
    }
    return next()
  }

  mutating func next() -> Action {
    if !starved.isEmpty {
      if case .enough = room {
        (room, state) = (.askedFor, .makingRoom)
        return .onStorageFull
      }
      endNewRecords()
    }
    if let batch = batches.first {
      state = .sending(failures: 0)
      return send(batch)
    }
    let pick = queue.pick(within: limits)
    if let leg = legs.first, !pick.ids.isEmpty {
      state = .preparing(isGroup: pick.isGroup)
      return .prepare(pick.ids, pick.isGroup ? nil : leg.stage)
    }
    if case .end? = legs.first?.position { begin(legs.dropFirst()) }
    guard let leg = legs.first, case .after(let stamp) = leg.position else { return finish() }
    state = .loading
    return .load(PushPortion(type: leg.type, stage: leg.stage, after: stamp, limit: settings.portion))
  }

  /// Begins the first of the remaining legs.
  mutating func begin(_ remaining: ArraySlice<Leg>) {
    legs = remaining
    (queue, batches) = (PushQueue(), [])
  }

  /// Ends the push.
  ///
  /// An edit that failed alone makes it a failure, if no other edit has shown whether the remote is
  /// there.
  private mutating func finish() -> Action {
    guard let suspect = search?.suspects.last else { return end(nil) }
    suspects += search?.suspects ?? []
    search = nil
    guard suspect.error.isAboutEdits else { return end(suspect.error) }
    for type in suspect.batch.types { typeFailures.append((type, suspect.error)) }
    return end(nil)
  }

  mutating func end(_ failure: SyncError?) -> Action {
    state = .ended(failure)
    return failure.map { .fail($0.code) } ?? .finish
  }

  /// Stops sending records that are new to the remote.
  ///
  /// If the remote has no room for updates either, only deletions are sent from now on.
  private mutating func endNewRecords() {
    let updates = starved.filter { !$0.isNewToTheRemote }
    starved = []
    queue.removeNew()
    if !isRemoteFull {
      room = .updatesOnly
      queue.putFirst(updates)
    } else if !updates.isEmpty, legs.first?.stage == .upserts {
      room = .none
      begin(legs.filter { $0.stage == .deletions }[...])
    }
  }
}

extension PushOutcome {
  /// Whether this can be the outcome of an entry's change.
  fileprivate func isAbout(_ entry: OutboxEntry) -> Bool {
    let id = entry.id
    return switch self {
    case .accepted(.malformed(let malformed)), .conflict(.malformed(let malformed)?):
      malformed.id.map { $0 == id } ?? true
    case .accepted(let change): change.id == id
    case .conflict(let change?): change.id == id
    case .moved(let record):
      record.id.type == id.type && !record.id.key.isEmpty && entry.next.content != .deletion
    case .conflict(nil), .unknown, .refused, .retryLater, .quotaExceeded, .notApplied: true
    }
  }
}

/// The steps after a failed request: retry, split, search for the edit at fault, or give up.
extension PushMachine {
  /// Records that a request failed with unknown effects.
  ///
  /// - Parameter random: 64 random bits.
  mutating func failed(_ error: SyncError, random: UInt64) -> Action {
    let failures = failedAttempts + 1
    guard case .sending = state, let batch = batches.first else {
      if let pause = settings.retry.pause(afterFailures: failures, error: error, random: random) {
        state = .askingLimits(failures: failures)
        return .wait(pause)
      }
      // A sink that fails to give its limits accepts no type's edits.
      return giveUp(error, of: Set(legs.map(\.type)))
    }
    if error.code == .batchTooLarge { return split(batch, error) }
    let ids = batch.entries.map(\.id)
    if error.code == .quotaExceeded {
      let action = settle(batch, as: .quotaExceeded)
      unanswered.formUnion(ids)
      return action
    }
    unanswered.formUnion(ids)
    if error.code == .remoteUnavailable { outages.formUnion(ids) }
    // A search sends each part once, as its result says more than a second attempt.
    if search == nil,
      let pause = settings.retry.pause(afterFailures: failures, error: error, random: random)
    {
      state = .sending(failures: failures)
      return .wait(pause)
    }
    if error.mayBeAboutOne(of: batch.units), error.retryAfter ?? .zero <= settings.retry.cap {
      return narrow(batch, error)
    }
    return giveUp(error)
  }

  /// Looks for the edits at which the remote fails.
  private mutating func narrow(_ batch: PushBatch, _ error: SyncError) -> Action {
    var search = search ?? EditSearch()
    let step = search.failed(batch, error)
    self.search = search
    switch step {
    case .send(let parts): batches.replaceSubrange(0..<1, with: parts)
    case .isolate:
      batches.removeFirst()
      state = .isolating(pause: error.retryAfter)
      let afterOutage = batch.entries.contains { outages.contains($0.id) }
      return .isolate(batch.entries, EditFailure(error, isProven: true, afterOutage: afterOutage))
    case .tryAnother: batches.removeFirst()
    case .giveUp: return giveUp(error)
    }
    return pause(for: error.retryAfter)
  }

  /// Waits as long as the remote asked for, before the next step.
  private mutating func pause(for pause: Duration?) -> Action {
    guard let pause else { return next() }
    state = .pausing
    return .wait(pause)
  }

  private mutating func giveUp(_ error: SyncError) -> Action {
    giveUp(error, of: type.map { [$0] } ?? [])
  }

  /// Ends the push of some types, or of all if other types may fail too.
  private mutating func giveUp(_ error: SyncError, of barred: Set<RecordType>) -> Action {
    suspects += search?.suspects ?? []
    search = nil
    guard error.endsOneTypeAlone || error.isAboutEdits && !batches.isEmpty else { return end(error) }
    for leg in legs where barred.contains(leg.type) && !typeFailures.contains(where: { $0.type == leg.type })
    {
      typeFailures.append((leg.type, error))
    }
    begin(legs.filter { !barred.contains($0.type) }[...])
    return next()
  }

  /// Records that the isolated edit is in the store.
  mutating func isolated() -> Action {
    if batches.isEmpty { search = nil }
    if case .isolating(let pause) = state { return self.pause(for: pause) }
    return next()
  }

  /// Sends a batch in two halves, or refuses an edit that is too large alone.
  private mutating func split(_ batch: PushBatch, _ error: SyncError) -> Action {
    guard batch.units > 1 else {
      return settle(
        batch,
        as: .refused(reason: error.message.isEmpty ? "It is larger than the remote accepts." : error.message))
    }
    let middle = batch.entries.count / 2
    let halves = [batch.entries[..<middle], batch.entries[middle...]]
    batches.replaceSubrange(0..<1, with: halves.map { PushBatch(Array($0)) })
    return next()
  }
}
