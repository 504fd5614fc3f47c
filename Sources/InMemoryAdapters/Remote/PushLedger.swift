public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// One edit that was applied: what makes a remote different from before.
  public struct PushEffect: Hashable, Sendable {
    /// The record.
    public let id: RecordID
    /// The version that the edit was made on; `nil` where there was none.
    public let base: Version?
    /// The name that the edit was sent under.
    public let key: IdempotencyKey
    /// When the edit was made.
    public let stamp: EditStamp
    /// Whether the record was deleted by it.
    public let isDeletion: Bool
    /// The version that it led to.
    public let version: Version
  }

  /// What was pushed, and what came of it.
  public struct PushCounters: Hashable, Sendable {
    /// Batches received, failed ones included.
    public var requests = 0
    /// Changes received, those sent again included.
    public var changes = 0
    /// Deletions received, those sent again included.
    public var deletions = 0
    /// Changes that were applied.
    public var effects = 0
    /// Changes that came again under a name whose effect was there already.
    public var repeats = 0
  }

  /// The counts of all pushes.
  public var pushCounters: PushCounters { state.withLock { $0.pushes.counters } }

  /// Every edit that was applied, oldest first: for each record and base version there should be one.
  public var pushEffects: [PushEffect] { state.withLock { $0.pushes.effects } }

  /// Every batch as it came, oldest first.
  public var pushLog: [[OutgoingChange]] { state.withLock { $0.pushes.log } }
}

/// The remote's book of pushes, with what it was told to do about them.
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

  /// Writes a batch down, and tells what is to happen to it.
  mutating func receive(_ changes: [OutgoingChange]) -> [InMemoryRemote.PushBehaviour] {
    log.append(changes)
    counters.requests += 1
    counters.changes += changes.count
    counters.deletions += changes.count { $0.content == .deletion }
    return script.filter { $0.batches.contains(counters.requests) }.map(\.behaviour)
  }

  /// What was answered to the same change before, if it was applied.
  mutating func answer(to change: OutgoingChange) -> PushOutcome? {
    guard let answer = answers[Name(id: change.id, key: change.key)] else { return nil }
    counters.repeats += 1
    return answer
  }

  /// Remembers what was answered to a change that was applied; another answer may change.
  mutating func keep(_ outcome: PushOutcome, of change: OutgoingChange) {
    guard case .accepted = outcome else { return }
    answers[Name(id: change.id, key: change.key)] = outcome
  }

  mutating func note(_ change: OutgoingChange, leadingTo version: Version) {
    counters.effects += 1
    effects.append(
      InMemoryRemote.PushEffect(
        id: change.id, base: change.base.version, key: change.key, stamp: change.stamp,
        isDeletion: change.content == .deletion, version: version))
  }
}
