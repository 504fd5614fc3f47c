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

  /// Why the push ended, if it failed.
  private(set) var failure: SyncError?
  /// Types whose edits the remote rejected altogether, with the errors.
  private(set) var typeFailures: [(type: RecordType, error: SyncError)] = []
  /// Edits that failed alone, if the remote is not known to accept any.
  private(set) var suspects: [EditSearch.Suspect] = []
  /// Whether the remote has run out of room.
  var isRemoteFull: Bool { room != .enough }

  /// The room at the remote: enough, only for records that it has, or none.
  private enum Room { case enough, updates, nothing }

  private struct Leg {
    var type: RecordType
    var stage: PushPortion.Stage
    /// The number of entries to process: as many as there were at the start.
    ///
    /// An app that edits all the time thus cannot keep a push busy forever.
    var count: Int
  }
  private let settings: Settings
  private var legs: ArraySlice<Leg>
  private var limits = SinkLimits()
  private var cursor: EditStamp?
  private var looked = 0
  private var isLoaded = false

  private var queue: [PushCandidate] = []
  /// Records that others in the queue wait for.
  ///
  /// They are not at the remote yet. In the deletion stage, they still refer to a record that is to
  /// be deleted.
  private var absent: Set<RecordID> = []
  /// Batches that are prepared and not settled; the first one is being sent.
  private var batches: [[OutboxEntry]] = []
  private var failures = 0
  private var conflicts: [RecordID: Int] = [:]
  /// Edits that had too many conflicts.
  private var leftAlone: Set<RecordID> = []
  private var starved: [PushCandidate] = []
  private var hasAskedForRoom = false
  private var room = Room.enough
  /// The search for edits at fault, after a batch used up its attempts.
  private var search: EditSearch?
  /// The pause that the remote asked for at an edit that is being isolated.
  private var pauseAskedFor: Duration?

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
    let upserts = pending.map { Leg(type: $0.type, stage: .upserts, count: $0.count) }
    let deletions = pending.reversed().map { Leg(type: $0.type, stage: .deletions, count: $0.count) }
    legs = (upserts + deletions).filter { stages.contains($0.stage) }[...]
  }

  /// The current type.
  var type: RecordType? { legs.first?.type }

  /// The number of failed attempts at the current request.
  var failedAttempts: Int { failures }

  /// Returns the first step.
  mutating func start() -> Action {
    legs.isEmpty ? .finish : .askLimits
  }

  /// Records the sink's limits.
  mutating func limitsTold(_ limits: SinkLimits) -> Action {
    self.limits = SinkLimits(
      maximumRecords: max(1, limits.maximumRecords), maximumBytes: max(1, limits.maximumBytes))
    failures = 0
    return next()
  }

  /// Records that a portion was read.
  mutating func loaded(_ portion: LoadedPortion) -> Action {
    looked += portion.count
    cursor = portion.last
    isLoaded = portion.count < settings.portion || looked >= (legs.first?.count ?? 0)
    queue = portion.candidates
    if !leftAlone.isEmpty { queue.removeAll { leftAlone.contains($0.entry.id) } }
    // A deletion that was sent before is in both stages, and a failure in both proves no more than
    // one.
    let failed = Set((search?.suspects ?? []).map(\.entry.id))
    if !failed.isEmpty { queue.removeAll { failed.contains($0.entry.id) } }
    if room != .enough { queue.removeAll(where: \.entry.isNewToTheRemote) }
    absent = Set(queue.flatMap(\.waitsFor))
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
    failures = 0
    // An edit that failed alone, before the remote was known to be there, is at fault if it fails
    // again.
    batches += (search?.answered() ?? []).map { [$0.entry] }
    return .settle(zip(batch, outcomes).map { PushAnswer(entry: $0, outcome: $1) })
  }

  /// Records that a request failed with unknown effects.
  ///
  /// - Parameter random: 64 random bits.
  mutating func failed(_ error: SyncError, random: UInt64) -> Action {
    if let batch = batches.first, error.code == .batchTooLarge { return split(batch, error) }
    if let batch = batches.first, error.code == .quotaExceeded {
      failures = 0
      return .settle(batch.map { PushAnswer(entry: $0, outcome: .quotaExceeded) })
    }
    failures += 1
    // A search sends each part once, as its result says more than a second attempt.
    if search == nil,
      let pause = settings.retry.pause(afterFailures: failures, error: error, random: random)
    {
      return .wait(pause)
    }
    if let batch = batches.first, error.mayBeAboutOne(of: batch.count),
      error.retryAfter ?? .zero <= settings.retry.cap
    {
      return narrow(batch, error)
    }
    return giveUp(error)
  }

  /// Looks for the edits at which the remote fails.
  private mutating func narrow(_ batch: [OutboxEntry], _ error: SyncError) -> Action {
    failures = 0
    var search = search ?? EditSearch()
    let step = search.failed(batch, error)
    self.search = search
    switch step {
    case .send(let parts): batches.replaceSubrange(0..<1, with: parts)
    case .isolate(let entry):
      batches.removeFirst()
      pauseAskedFor = error.retryAfter
      return .isolate(entry, EditFailure(error, isProven: true))
    case .tryAnother: batches.removeFirst()
    case .giveUp: return giveUp(error)
    }
    if let pause = error.retryAfter { return .wait(pause) }
    return next()
  }

  /// Ends the push, or only that of one type if the failure concerns no other.
  private mutating func giveUp(_ error: SyncError) -> Action {
    suspects += search?.suspects ?? []
    search = nil
    guard let type, error.endsOneTypeAlone || error.isAboutEdits && !batches.isEmpty else {
      failure = error
      return .fail(error.code)
    }
    // A sink that fails to give its limits accepts no type's edits.
    let barred = batches.isEmpty ? Set(legs.map(\.type)) : [type]
    for leg in legs where barred.contains(leg.type) && !typeFailures.contains(where: { $0.type == leg.type })
    {
      typeFailures.append((leg.type, error))
    }
    legs = ArraySlice(legs.filter { !barred.contains($0.type) })
    beginLeg()
    return next()
  }

  /// Records that the isolated edit is in the store.
  mutating func isolated() -> Action {
    if batches.isEmpty { search = nil }
    defer { pauseAskedFor = nil }
    return pauseAskedFor.map { .wait($0) } ?? next()
  }

  /// Records that the pause is over.
  mutating func waited() -> Action {
    batches.isEmpty ? .askLimits : next()
  }

  /// Records that the sink's answers are settled, with the fates in their order.
  mutating func settled(_ fates: [PushFate]) -> Action {
    guard !batches.isEmpty else { return next() }
    let batch = batches.removeFirst()
    if batches.isEmpty { search = nil }
    var again: [PushCandidate] = []
    // An edit of an earlier leg that failed alone was sent once more, and waits for the next sync:
    // a batch is of one type.
    let isOfLeg = batch.first?.id.type == type
    for (place, fate) in zip(batch.indices, fates) {
      switch fate {
      case .accepted: absent.remove(batch[place].id)
      case .lost: if legs.first?.stage != .deletions { absent.remove(batch[place].id) }
      case .stands(let entry):
        if entry.base.record != nil, legs.first?.stage != .deletions { absent.remove(entry.id) }
        conflicts[entry.id, default: 0] += 1
        if conflicts[entry.id, default: 0] >= settings.rounds {
          leftAlone.insert(entry.id)
        } else if isOfLeg, legs.first?.stage == .deletions || entry.edit.content != .deletion {
          again.append(PushCandidate(entry: entry))
        }
      case .full: if isOfLeg { starved.append(PushCandidate(entry: batch[place])) }
      case .left, .refused, .postponed: break
      }
    }
    if !again.isEmpty { queue = again + queue }
    return next()
  }

  /// Records whether the app made room at the remote.
  mutating func roomMade(_ wasMade: Bool) -> Action {
    if wasMade {
      queue = starved + queue
      starved = []
    }
    return next()
  }

  // MARK: Next step

  private mutating func next() -> Action {
    if !starved.isEmpty {
      guard hasAskedForRoom else {
        hasAskedForRoom = true
        return .onStorageFull
      }
      noteFull()
    }
    if let batch = batches.first { return .send(batch.map(\.outgoing)) }
    let ids = pick()
    if let leg = legs.first, !ids.isEmpty { return .prepare(ids, leg.stage) }
    if isLoaded {
      legs = legs.dropFirst()
      beginLeg()
    }
    guard let leg = legs.first else { return finish() }
    return .load(PushPortion(type: leg.type, stage: leg.stage, after: cursor, limit: settings.portion))
  }

  /// Begins the first of the remaining legs.
  private mutating func beginLeg() {
    (cursor, looked, isLoaded) = (nil, 0, false)
    (queue, batches, failures) = ([], [], 0)
  }

  /// Ends the push.
  ///
  /// An edit that failed alone makes it a failure, if no other edit has shown whether the remote is
  /// there.
  private mutating func finish() -> Action {
    guard let suspect = search?.suspects.last else { return .finish }
    suspects += search?.suspects ?? []
    search = nil
    guard suspect.error.isAboutEdits else {
      failure = suspect.error
      return .fail(suspect.error.code)
    }
    typeFailures.append((suspect.entry.id.type, suspect.error))
    return .finish
  }

  /// Stops sending records that are new to the remote.
  ///
  /// If the remote has no room for updates either, only deletions are sent from now on.
  private mutating func noteFull() {
    let updates = starved.filter { !$0.entry.isNewToTheRemote }
    starved = []
    queue.removeAll(where: \.entry.isNewToTheRemote)
    if room == .enough {
      room = .updates
      queue = updates + queue
    } else if !updates.isEmpty, legs.first?.stage == .upserts {
      room = .nothing
      legs = ArraySlice(legs.filter { $0.stage == .deletions })
      beginLeg()
    }
  }

  /// Takes the next batch from the queue.
  ///
  /// The batch is in the queue's order, within the sink's limits, and without edits that wait for
  /// others.
  private mutating func pick() -> [RecordID] {
    var ids: [RecordID] = []
    var (bytes, isClosed) = (0, false)
    var rest: [Int] = []
    for place in queue.indices {
      let size = queue[place].entry.sizeToSend
      let waits = !queue[place].waitsFor.isEmpty && !absent.isDisjoint(with: queue[place].waitsFor)
      let (sum, overflow) = bytes.addingReportingOverflow(size)
      if !waits, !ids.isEmpty, ids.count >= limits.maximumRecords || overflow || sum > limits.maximumBytes {
        isClosed = true
      }
      if waits || isClosed {
        rest.append(place)
      } else {
        ids.append(queue[place].entry.id)
        bytes = sum
      }
    }
    if ids.isEmpty, let first = queue.memberOfCircle(absent: absent) {
      ids = [first]
      rest.removeAll { queue[$0].entry.id == first }
    }
    // Edits that wait for a record that this push does not send wait for the next push.
    if ids.isEmpty { rest = [] }
    // Moved to the front, in order, without copies.
    for (place, kept) in rest.enumerated() { queue.swapAt(place, kept) }
    queue.removeLast(queue.count - rest.count)
    return ids
  }

  private mutating func split(_ batch: [OutboxEntry], _ error: SyncError) -> Action {
    failures = 0
    guard batch.count > 1 else {
      let reason = error.message.isEmpty ? "It is larger than the remote accepts." : error.message
      return .settle(batch.map { PushAnswer(entry: $0, outcome: .refused(reason: reason)) })
    }
    let middle = batch.count / 2
    batches.replaceSubrange(0..<1, with: [Array(batch[..<middle]), Array(batch[middle...])])
    return next()
  }
}

extension PushOutcome {
  /// Whether this can be the outcome of a record's change.
  fileprivate func isAbout(_ id: RecordID) -> Bool {
    switch self {
    case .accepted(.malformed): false
    case .accepted(let change): change.id == id
    case .conflict(.malformed(let malformed)?): malformed.id.map { $0 == id } ?? true
    case .conflict(let change?): change.id == id
    case .conflict(nil), .refused, .retryLater, .quotaExceeded: true
    }
  }
}
