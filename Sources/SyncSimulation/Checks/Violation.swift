/// One of the library's promises, as far as a world watches it.
public enum Promise: String, Hashable, Sendable, CaseIterable, Codable {
  /// One seed gives one trace.
  case determinism
  /// Nothing runs outside the world, and nothing is left behind.
  case containment
  /// A page, what is set aside and the checkpoint are one transaction; what failed has left nothing.
  case atomicPage
  /// Every change that was sent is to be found.
  case nothingSilent
  /// Each fetched change is counted once.
  case balance
  /// When writes and faults stop, the store equals the remote but for what it lists.
  case convergence
  /// Copies replace each other by the remote's order alone.
  case replication
  /// Of two edits the same one wins whoever settles it, and whenever.
  case arithmetic
  /// After a deletion nothing older shows.
  case noResurrection
  /// No edit leaves the outbox unless the remote has it or the log of conflicts does.
  case noLostEdit
  /// Each edit that meets another is told to, and none to have met what it led to itself.
  case honestConflicts
  /// An edit that is sent again has one effect.
  case oneEffect
  /// Of duplicates one stays, the one that was written last; what has no duplicate stays as well.
  case onlyLosers
  /// A rebuild goes on where it stopped, and is done once.
  case rebuiltOnce
  /// What is seen is recorded, unless it was recorded a short time ago.
  case throttle
  /// No live record refers to one that is not live.
  case references
  /// At most one process commits.
  case oneCommitter
  /// A sync stops soon after it was asked to, and goes on where it stopped.
  case cancellation
  /// Pages ahead, attempts and pauses are bounded, and requested pauses kept.
  case bounds
  /// Each error has a cause in the world.
  case honestErrors
  /// With the faults gone, everything goes on by itself, in a bounded number of steps.
  case liveness
}

/// A promise that was broken in a world, and how.
public struct Violation: Hashable, Sendable, Codable, CustomStringConvertible {
  /// Which promise.
  public var promise: Promise
  /// What was seen.
  public var words: String

  /// The promise and what was seen.
  public var description: String { "\(promise.rawValue): \(words)" }
}
