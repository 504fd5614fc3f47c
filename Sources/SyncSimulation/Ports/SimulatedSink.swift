import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts

/// The remote's sink for one process of a world.
///
/// Requests fail, stall and kill the process, and all sent changes are checked.
final class SimulatedSink: ForwardingSink {
  let base: any RemoteRecordSink
  private let incarnation: Incarnation

  init(_ base: any RemoteRecordSink, of incarnation: Incarnation) {
    self.base = base
    self.incarnation = incarnation
  }

  func limits() async throws(SyncError) -> SinkLimits {
    try await incarnation.around(.limits) { () async throws(SyncError) in try await base.limits() }
  }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    try await push(changes) { () throws(SyncError) in try await self.base.push(changes, entities: entities) }
  }

  func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let outcomes = try await push(changes, isGroup: true) { () throws(SyncError) in
      try await self.base.push(atomically: changes, entities: entities)
    }
    if outcomes.contains(where: { if case .accepted = $0 { true } else { false } }) {
      incarnation.world.ledger.saw(.groupApplied)
    }
    return outcomes
  }

  private func push(
    _ changes: [OutgoingChange], isGroup: Bool = false,
    _ request: @escaping @Sendable () async throws(SyncError) -> [PushOutcome]
  ) async throws(SyncError) -> [PushOutcome] {
    guard let type = changes.first?.id.type else { return [] }
    let (world, book) = (incarnation.world, incarnation.book)
    for words in world.watch.pushes.sending(changes) {
      world.ledger.report(.oneEffect, "\(incarnation) \(words)", about: changes.map(\.id))
    }
    if let id = world.watch.pushes.foreign(changes).first, !incarnation.isDead {
      world.ledger.report(
        .oneAccount, "\(incarnation) sends an edit of \(id), which another person has made", about: [id])
    }
    checkPairs(changes)
    checkPostponed(changes)
    checkSource(changes, type)
    if !isGroup, let other = changes.first(where: { $0.id.type != type }) {
      world.ledger.report(
        .bounds, "\(incarnation) sends \(other.id) in a batch of \(type)", about: [other.id])
    }
    if world.watch.edits.haveBecomeDue(changes.map(\.id), at: incarnation.clock.timestamp) { book.pushed() }
    for words in book.pushing(changes, at: incarnation.clock.now.offset) {
      world.ledger.report(.bounds, "\(incarnation) \(words)", about: changes.map(\.id))
    }
    do throws(SyncError) {
      let outcomes = try await incarnation.around(.push) { () async throws(SyncError) -> [PushOutcome] in
        let choking = world.edits.choking
        if let change = changes.first(where: { choking.contains($0.id) }) {
          world.ledger.saw(.batchRejected)
          incarnation.trace(as: .fault, "cannot push \(change.id): the sink throws")
          throw SyncError(.invalidResponse, during: "a push", "The gateway does not understand.")
        }
        let outcomes = try await request()
        tell(changes, outcomes)
        return outcomes
      }
      book.pushed()
      world.watch.edits.sent(changes.map(\.id), isAnswered: true)
      note(changes, outcomes)
      return outcomes
    } catch {
      world.watch.edits.sent(changes.map(\.id), isAnswered: false)
      if error.code == .batchTooLarge || error.code == .quotaExceeded {
        book.pushed()
      } else {
        book.pushFailed(error, at: incarnation.clock.now.offset)
      }
      throw error
    }
  }

  private func tell(_ changes: [OutgoingChange], _ outcomes: [PushOutcome]) {
    for (change, outcome) in zip(changes, outcomes) {
      let words = Self.words(outcome)
      incarnation.trace(
        as: .push, "pushes \(change.id): \(words)",
        facts: .answers([WorldEvent.Delivery(change, outcome, answer: words)], isPush: true))
    }
  }

  private func note(_ changes: [OutgoingChange], _ outcomes: [PushOutcome]) {
    let (world, ledger) = (incarnation.world, incarnation.world.ledger)
    for (change, outcome) in zip(changes, outcomes) {
      if world.shape.assignsKeys, !outcome.isApplied, !outcome.isUnknown {
        world.watch.pushes.isNotTaken(change)
      }
      switch outcome {
      case .accepted(let word):
        ledger.saw(.pushed)
        if world.watch.pushes.wasFreed(change) { ledger.saw(.valueFreed) }
        noteMoot(change)
        noteHabits(change, word)
        world.watch.heard([word])
      case .conflict(let word):
        ledger.saw(.pushMetAnother)
        if let word { world.watch.heard([word]) }
      case .moved(let record):
        ledger.saw(.pushed)
        world.watch.heard([.upsert(record)])
      case .refused(UniqueValuesSink.reason):
        ledger.saw(.valueTaken)
        world.watch.pushes.refusedValue(of: change.id)
      case .unknown, .refused: ledger.saw(.editRefused)
      case .retryLater(let pause):
        ledger.saw(.editRefused)
        if let pause {
          world.watch.pushes.postpone(
            change, for: pause, at: world.time.elapsed, under: incarnation.book.fence)
        }
      case .quotaExceeded: ledger.saw(.remoteFull)
      case .notApplied: break
      }
    }
  }

  /// Notes a deletion without effect, because the remote had no such record.
  ///
  /// An answer as of now may show a new record.
  private func noteMoot(_ change: OutgoingChange) {
    let world = incarnation.world
    guard world.shape.hazards.contains(.presentAnswers), change.content == .deletion else { return }
    if !world.remotes.current.pushEffects.contains(where: { $0.id == change.id && $0.stamp == change.stamp })
    {
      world.watch.edits.foundGone(change.id, by: change.stamp)
    }
  }

  /// A postponed edit is not sent before its time, as far as the clocks show.
  private func checkPostponed(_ changes: [OutgoingChange]) {
    let world = incarnation.world
    guard !world.shape.hazards.contains(.jumpingClocks) else { return }
    world.watch.pushes.wentOn(under: incarnation.book.fence)
    // A sync that lost its lease sends its prepared batch, without the answers to the other sync.
    guard incarnation.book.fence == world.watch.leases.latest else { return }
    for words in world.watch.pushes.early(changes, at: world.time.elapsed) {
      world.ledger.report(.bounds, "\(incarnation) \(words)", about: changes.map(\.id))
    }
  }

  /// The edits of a group are sent together.
  private func checkPairs(_ changes: [OutgoingChange]) {
    let world = incarnation.world
    if world.remotes.wereExchanged { return world.pairs.allowed() }
    let apart = world.pairs.sending(changes, world.watch.lastView, world.remotes.current.pushEffects)
    for (id, words) in apart where !incarnation.isDead {
      world.ledger.report(.atomicGroup, "\(incarnation) sends the edit of \(id) \(words)", about: [id])
    }
  }

  /// No edit goes to a remote with a base from another one.
  private func checkSource(_ changes: [OutgoingChange], _ type: RecordType) {
    let world = incarnation.world
    // A killed process has no effect.
    guard !incarnation.isDead, world.remotes.wereExchanged, changes.contains(where: { $0.base != .none }),
      let checkpoint = world.watch.checkpoint(of: type), checkpoint.scope.source != identity
    else { return }
    world.ledger.report(
      .honestConflicts, "\(incarnation) sends edits of \(type) on top of what another remote has said",
      about: changes.map(\.id))
  }

  /// Notes an answer that differs from the sent change.
  private func noteHabits(_ change: OutgoingChange, _ word: RecordChange) {
    let (world, ledger) = (incarnation.world, incarnation.world.ledger)
    guard case .upsert(let payload, _) = change.content else { return }
    if world.shape.hazards.contains(.respelling), case .upsert(let taken) = word, taken.payload != payload {
      ledger.saw(.respelled)
    }
    guard world.shape.hazards.contains(.presentAnswers) else { return }
    let effect = world.remotes.current.pushEffects.last { $0.id == change.id && $0.key == change.key }
    let version =
      switch word {
      case .upsert(let record): record.version
      case .tombstone(let tombstone): tombstone.version
      case .malformed: Version.unversioned
      }
    if let effect, effect.version != version { ledger.saw(.answeredAsOfNow) }
  }

  private static func words(_ outcome: PushOutcome) -> String {
    switch outcome {
    case .accepted: "taken"
    case .conflict(nil): "there is no such record"
    case .conflict: "there is another copy"
    case .moved: "taken under another key"
    case .unknown: "who knows"
    case .refused: "refused"
    case .retryLater: "not now"
    case .quotaExceeded: "no room"
    case .notApplied: "not without its group"
    }
  }
}

extension PushOutcome {
  /// Whether the change may have been applied, or not.
  fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }
}
