import SyncModels

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
    case prepare([RecordID], PushPortion.Stage)
    case send([OutgoingChange])
    case settle([PushAnswer])
    /// Keep an edit at which the remote fails out of the next push.
    case isolate(OutboxEntry, EditFailure)
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

  let settings: Settings
  var state = State.new
  private var limits = SinkLimits()
  var legs: ArraySlice<Leg>
  /// Edits of the current leg that are read and not prepared.
  private var queue = PushQueue()
  /// Batches that are prepared and not settled; the first one is being sent.
  var batches: [[OutboxEntry]] = []
  private var conflicts: [RecordID: Int] = [:]
  /// Edits that had too many conflicts.
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
    case preparing
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
    let failed = Set((search?.suspects ?? []).map(\.entry.id))
    if !failed.isEmpty { edits.removeAll { failed.contains($0.entry.id) } }
    if isRemoteFull { edits.removeAll(where: \.entry.isNewToTheRemote) }
    queue = PushQueue(edits)
    conflicts = [:]
    return next()
  }

  /// Records that a batch is prepared in the store, with the entries to send.
  mutating func prepared(_ entries: [OutboxEntry]) -> Action {
    if !entries.isEmpty { batches.append(entries) }
    return next()
  }

  /// Records the sink's answer.
  ///
  /// - Parameter random: 64 random bits, for a retry.
  mutating func answered(_ outcomes: [PushOutcome], random: UInt64) -> Action {
    guard let batch = batches.first else { return next() }
    guard outcomes.count == batch.count, batch.indices.allSatisfy({ outcomes[$0].isAbout(batch[$0].id) })
    else {
      let error = SyncError(
        .invalidResponse, during: "pushing edits of \(type?.rawValue ?? "no type")",
        "The remote answered \(Counted(outcomes.count, "outcome")) to \(Counted(batch.count, "change")), or outcomes of other records."
      )
      return failed(error, random: random)
    }
    // An edit that failed alone, before the remote was known to be there, is at fault if it fails
    // again.
    batches += (search?.answered() ?? []).map { [$0.entry] }
    state = .settling
    return .settle(zip(batch, outcomes).map { PushAnswer(entry: $0, outcome: $1) })
  }

  /// Records that the pause is over.
  mutating func waited() -> Action {
    switch state {
    case .askingLimits: .askLimits
    case .sending: batches.first.map { .send($0.map(\.outgoing)) } ?? next()
    case .new, .loading, .preparing, .settling, .isolating, .pausing, .makingRoom, .ended: next()
    }
  }

  /// Records that the sink's answers are settled, with the results in their order.
  mutating func settled(_ results: [SettlementResult]) -> Action {
    guard !batches.isEmpty else { return next() }
    let batch = batches.removeFirst()
    if batches.isEmpty { search = nil }
    var again: [PushCandidate] = []
    // An edit of an earlier leg that failed alone was sent once more, and waits for the next sync:
    // a batch is of one type.
    let isOfLeg = batch.first?.id.type == type
    for (place, result) in zip(batch.indices, results) {
      switch result {
      case .accepted: queue.noteDone(batch[place].id)
      case .lost: if legs.first?.stage != .deletions { queue.noteDone(batch[place].id) }
      case .rebased(let entry):
        if entry.base.record != nil, legs.first?.stage != .deletions { queue.noteDone(entry.id) }
        conflicts[entry.id, default: 0] += 1
        if conflicts[entry.id, default: 0] >= settings.rounds {
          leftAlone.insert(entry.id)
        } else if isOfLeg, legs.first?.stage == .deletions || entry.edit.content != .deletion {
          again.append(PushCandidate(entry: entry))
        }
      case .noRoom: if isOfLeg { starved.append(PushCandidate(entry: batch[place])) }
      case .unresolved, .refused, .postponed: break
      }
    }
    queue.putFirst(again)
    return next()
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
      noteFull()
    }
    if let batch = batches.first {
      state = .sending(failures: 0)
      return .send(batch.map(\.outgoing))
    }
    let ids = queue.pick(within: limits)
    if let leg = legs.first, !ids.isEmpty {
      state = .preparing
      return .prepare(ids, leg.stage)
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
    typeFailures.append((suspect.entry.id.type, suspect.error))
    return end(nil)
  }

  mutating func end(_ failure: SyncError?) -> Action {
    state = .ended(failure)
    return failure.map { .fail($0.code) } ?? .finish
  }

  /// Stops sending records that are new to the remote.
  ///
  /// If the remote has no room for updates either, only deletions are sent from now on.
  private mutating func noteFull() {
    let updates = starved.filter { !$0.entry.isNewToTheRemote }
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
  /// Whether this can be the outcome of a record's change.
  fileprivate func isAbout(_ id: RecordID) -> Bool {
    switch self {
    case .accepted(.malformed(let malformed)), .conflict(.malformed(let malformed)?):
      malformed.id.map { $0 == id } ?? true
    case .accepted(let change): change.id == id
    case .conflict(let change?): change.id == id
    case .conflict(nil), .refused, .retryLater, .quotaExceeded: true
    }
  }
}
