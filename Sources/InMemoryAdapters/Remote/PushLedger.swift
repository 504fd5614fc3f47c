public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// One applied edit, which changed the remote.
  public struct PushEffect: Hashable, Sendable {
    /// The record.
    public let id: RecordID
    /// The version that the edit was made on; `nil` without a version.
    public let base: Version?
    /// The idempotency key of the edit.
    public let key: IdempotencyKey
    /// The time of the edit.
    public let stamp: EditStamp
    /// Whether the edit deleted the record.
    public let isDeletion: Bool
    /// The resulting version.
    public let version: Version
  }

  /// The numbers of pushed changes and of their effects.
  public struct PushCounters: Hashable, Sendable {
    /// Batches received, failed ones included.
    public var requests = 0
    /// Changes received, repeated ones included.
    public var changes = 0
    /// Deletions received, repeated ones included.
    public var deletions = 0
    /// Changes that were applied.
    public var effects = 0
    /// Changes that were received again with an idempotency key that already had its effect.
    public var repeats = 0
  }

  /// The counts of all pushes.
  public var pushCounters: PushCounters { state.withLock { $0.pushes.counters } }

  /// Every applied edit, oldest first. Each record and base version should occur once.
  public var pushEffects: [PushEffect] { state.withLock { $0.pushes.effects } }

  /// Every received batch, oldest first.
  public var pushLog: [[OutgoingChange]] { state.withLock { $0.pushes.log } }
}

/// The remote's record of pushes, and the script for them.
struct PushLedger: Sendable {
  private struct Name: Hashable, Sendable {
    var id: RecordID
    var key: IdempotencyKey
  }

  var script: [(behaviour: InMemoryRemote.PushBehaviour, batches: ClosedRange<Int>)] = []
  var rulings: [RecordID: InMemoryRemote.PushRuling] = [:]
  var recordQuota: Int?
  private(set) var counters = InMemoryRemote.PushCounters()
  private(set) var effects: [InMemoryRemote.PushEffect] = []
  private(set) var log: [[OutgoingChange]] = []
  private var answers: [Name: PushOutcome] = [:]

  /// Stores a batch, and returns the scripted behaviours for it.
  mutating func receive(_ changes: [OutgoingChange]) -> [InMemoryRemote.PushBehaviour] {
    log.append(changes)
    counters.requests += 1
    counters.changes += changes.count
    counters.deletions += changes.count { $0.content == .deletion }
    return script.filter { $0.batches.contains(counters.requests) }.map(\.behaviour)
  }

  /// The stored outcome of the same change, if it was applied before.
  mutating func answer(to change: OutgoingChange) -> PushOutcome? {
    guard let answer = answers[Name(id: change.id, key: change.key)] else { return nil }
    counters.repeats += 1
    return answer
  }

  /// Stores the outcome of an applied change. Other outcomes may change.
  mutating func keep(_ outcome: PushOutcome, of change: OutgoingChange) {
    guard outcome.isApplied else { return }
    answers[Name(id: change.id, key: change.key)] = outcome
  }

  /// Forgets the answers since an earlier state.
  mutating func restore(_ former: PushLedger) { answers = former.answers }

  mutating func note(_ change: OutgoingChange, leadingTo version: Version) {
    counters.effects += 1
    effects.append(
      InMemoryRemote.PushEffect(
        id: change.id, base: change.base.version, key: change.key, stamp: change.stamp,
        isDeletion: change.content == .deletion, version: version))
  }
}
