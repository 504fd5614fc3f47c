public import SyncModels

/// One of the library's promises, as far as a world checks it.
public enum Promise: String, Hashable, Sendable, CaseIterable, Codable {
  /// One seed gives one trace.
  case determinism
  /// No work runs outside the world, and none is left behind.
  case containment
  /// A page, its withheld changes and the checkpoint are one transaction.
  ///
  /// A failed transaction changes nothing.
  case atomicPage
  /// Every sent change can be found.
  case nothingSilent
  /// Each fetched change is counted once.
  case balance
  /// Without writes and faults, the store equals the remote, except for listed differences.
  case convergence
  /// Copies replace each other only by the remote's order.
  case replication
  /// Of two edits the same one wins, on every replica and at any time.
  case arithmetic
  /// After a deletion, no older copy is visible.
  case noResurrection
  /// An edit leaves the outbox only for the remote or the log of conflicts.
  case noLostEdit
  /// Each edit that meets another one has a conflict, and none with its own result.
  case honestConflicts
  /// A repeated edit has one effect.
  case oneEffect
  /// A store keeps to one account: nothing of it is shown or sent to another.
  case oneAccount
  /// The edits of an atomic group reach the remote together, or not at all.
  case atomicGroup
  /// Of duplicates, the one written last stays; records without duplicates stay too.
  case onlyLosers
  /// A rebuild continues after an interruption, and is done once.
  case rebuiltOnce
  /// A sighting is recorded unless it was recorded a short time ago.
  case throttle
  /// The store tells observers of every record that a commit changes.
  case observation
  /// A read shows the store as it is during the call.
  case freshReads
  /// No live record refers to one that is not live.
  case references
  /// At most one process commits.
  case oneCommitter
  /// A cancelled sync stops soon, and the next one continues from there.
  case cancellation
  /// Pages ahead, attempts and pauses are bounded, and requested pauses are kept.
  case bounds
  /// Each error has a cause in the world.
  case honestErrors
  /// Without faults, the sync completes in a bounded number of steps.
  case liveness
  /// The worlds show what is to be tested: each branch of the app's policy has run.
  case coverage
}

/// A promise that was broken in a world, with the observation.
public struct Violation: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The broken promise.
  public var promise: Promise
  /// The observation.
  public var words: String
  /// The records that the observation is about, the first one most of all.
  public var records: [RecordID] = []
  /// The type that it is about, if it is about no single record.
  public var type: RecordType?

  /// The promise and the observation.
  public var description: String { "\(promise.rawValue): \(words)" }
}
