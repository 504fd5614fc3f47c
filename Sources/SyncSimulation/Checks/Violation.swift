import SyncCore
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

/// A contradiction within a store, or between a store and its remote.
struct Difference: Hashable, Sendable, CustomStringConvertible {
  /// The contradiction, in words.
  var description: String
  /// The records that it is about, the first one most of all.
  var records: [RecordID]

  init(_ description: String, about records: [RecordID]) {
    (self.description, self.records) = (description, records)
  }

  init(_ finding: StoreFinding) {
    description = finding.description
    records =
      if let type = finding.type, let key = finding.key { [RecordID(type: type, key: key)] } else { [] }
  }
}

extension Promise {
  /// What the library promises, as a sentence.
  public var sentence: String {
    switch self {
    case .determinism: "One seed gives one world."
    case .containment: "No work runs outside the world, and none is left behind."
    case .atomicPage:
      "A page, its withheld changes and the checkpoint are one transaction, and nothing else changes the store."
    case .nothingSilent: "Nothing is lost: every change that the remote sent is shown, or listed as withheld."
    case .balance: "Each fetched change is counted once."
    case .convergence:
      "Without writes and faults, the store becomes equal to the remote, except for listed differences."
    case .replication: "Copies replace each other only in the remote's order."
    case .arithmetic: "Of two edits the same one wins, on every replica and at any time."
    case .noResurrection: "After a deletion, no older copy is visible."
    case .noLostEdit: "An edit leaves the outbox only for the remote or the log of conflicts."
    case .honestConflicts:
      "Each edit that meets another one has a conflict in the log, and none with its own result."
    case .oneEffect: "A repeated edit has one effect."
    case .oneAccount: "Nothing of one account is shown or sent to another."
    case .atomicGroup: "The edits of an atomic group reach the remote together, or not at all."
    case .onlyLosers: "Of duplicates, the one written last stays; records without duplicates stay too."
    case .rebuiltOnce: "A rebuild continues after an interruption, and is done once."
    case .throttle: "A sighting is recorded unless it was recorded a short time ago."
    case .observation: "The store tells observers of every record that a commit changes."
    case .freshReads: "A read shows the store as it is during the call."
    case .references: "No visible record refers to one that is not visible."
    case .oneCommitter: "At most one process commits."
    case .cancellation: "A cancelled sync stops soon, and the next one continues from there."
    case .bounds: "Pages ahead, attempts and pauses are bounded, and requested pauses are kept."
    case .honestErrors: "Each error has a cause in the world."
    case .liveness: "Without faults, the sync completes in a bounded number of steps."
    case .coverage: "The worlds show what is to be tested."
    }
  }
}
