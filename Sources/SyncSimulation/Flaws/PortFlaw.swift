/// A flaw that somebody's adapter might have, put into a world on purpose, to see that it is noticed.
///
/// The engine does its best with an adapter that breaks its promises; what matters is that the checks see through it. Each is made by something that
/// is put around a port, so no build differs from the one that apps have.
enum PortFlaw: String, Hashable, Sendable, CaseIterable {
  // What a store forgets.
  case storeForgetsWhatWaits, storeKeepsWhatWasReleased, storeForgetsADeletion, storeForgetsMarks
  case storeForgetsConflicts, storeKeepsSettledEdits, storeForgetsAwaitedRecords
  case storeForgetsACopy, storeForgetsAnEdit
  // What it does not find.
  case storeOverlooksReferrers, storeOverlooksMissingTargets, storeOverlooksWaiters, storeOverlooksEdits
  case storeOverlooksUnmarked, storeOverlooksWhatWaits
  // What a source leaves out.
  case lookupFindsNothing, pageWithoutDeletions, pageWithoutItsLast, resetUntold, endTooEarly
  // What a sink makes up.
  case sinkTakesNothing, sinkHidesConflicts, sinkSendsTwice, sinkTellsOfNothing

  /// The promises of which one has to be seen broken first.
  var killers: Set<Promise> {
    switch self {
    case .storeForgetsWhatWaits, .pageWithoutItsLast, .resetUntold: [.nothingSilent, .convergence]
    // What refers to the copy is there.
    case .storeForgetsACopy: [.nothingSilent, .convergence, .references]
    // What one transaction left is not what the next one finds.
    case .storeOverlooksWhatWaits: [.nothingSilent, .convergence, .atomicPage]
    // What is merged once more is counted once more.
    case .storeKeepsWhatWasReleased: [.convergence, .balance]
    // A sweep finds again what it removed, and gives up.
    case .storeForgetsADeletion: [.nothingSilent, .convergence, .liveness]
    case .storeForgetsMarks, .storeForgetsAwaitedRecords,
      .storeOverlooksWaiters, .storeOverlooksUnmarked, .lookupFindsNothing,
      .pageWithoutDeletions, .endTooEarly:
      [.convergence]
    case .storeForgetsAnEdit, .storeOverlooksEdits: [.noLostEdit, .atomicPage]
    case .storeForgetsConflicts: [.noLostEdit]
    case .sinkTakesNothing, .sinkHidesConflicts: [.noLostEdit, .convergence]
    // An edit of a record that nothing is told of stands on nothing, where a copy stood.
    case .sinkTellsOfNothing: [.noLostEdit, .convergence, .replication]
    case .storeKeepsSettledEdits: [.convergence, .oneEffect]
    case .storeOverlooksReferrers, .storeOverlooksMissingTargets: [.references]
    case .sinkSendsTwice: [.oneEffect]
    }
  }
}
