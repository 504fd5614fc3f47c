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
