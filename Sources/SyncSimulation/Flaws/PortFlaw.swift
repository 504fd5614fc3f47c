/// A possible flaw of an adapter, introduced to test that the checks detect it.
///
/// The engine handles an adapter that breaks its promises as well as it can. The checks must detect
/// the flaw. Each flaw is made by a wrapper around a port, so no build differs from that of apps.
enum PortFlaw: String, Hashable, Sendable, CaseIterable {
  // Losses in a store.
  case storeForgetsWhatWaits, storeKeepsWhatWasReleased, storeForgetsADeletion, storeForgetsMarks
  case storeForgetsConflicts, storeKeepsSettledEdits, storeForgetsAwaitedRecords
  case storeForgetsACopy, storeForgetsAnEdit, storeForgetsAnObservedChange
  // Omissions in a store's results.
  case storeOverlooksReferrers, storeOverlooksMissingTargets, storeOverlooksWaiters, storeOverlooksEdits
  case storeOverlooksUnmarked, storeOverlooksWhatWaits
  // Errors in a store's lease.
  case leaseUnheeded, leaseForEver, leaseWithoutFence, fenceOutsideTransaction
  // Omissions of a source.
  case lookupFindsNothing, pageWithoutDeletions, pageWithoutItsLast, resetUntold, endTooEarly
  case keysWithOldVersions, refusedListEnds
  // False results of a sink.
  case sinkTakesNothing, sinkHidesConflicts, sinkSendsTwice, sinkTellsOfNothing

  /// The promises of which one must be reported first.
  var killers: Set<Promise> {
    switch self {
    case .storeForgetsWhatWaits, .pageWithoutItsLast, .resetUntold: [.nothingSilent, .convergence]
    // References to the copy exist.
    case .storeForgetsACopy: [.nothingSilent, .convergence, .references]
    // The next transaction does not find the state that the last one left.
    case .storeOverlooksWhatWaits: [.nothingSilent, .convergence, .atomicPage]
    // A change that is merged again is counted again.
    case .storeKeepsWhatWasReleased: [.convergence, .balance]
    // A sweep finds its removed records again, and gives up.
    case .storeForgetsADeletion: [.nothingSilent, .convergence, .liveness]
    case .storeForgetsMarks, .storeForgetsAwaitedRecords,
      .storeOverlooksWaiters, .storeOverlooksUnmarked, .lookupFindsNothing,
      .pageWithoutDeletions, .endTooEarly, .keysWithOldVersions, .refusedListEnds:
      [.convergence]
    case .storeForgetsAnEdit, .storeOverlooksEdits: [.noLostEdit, .atomicPage]
    case .storeForgetsConflicts: [.noLostEdit]
    case .storeForgetsAnObservedChange: [.observation]
    case .sinkTakesNothing, .sinkHidesConflicts: [.noLostEdit, .convergence]
    // An edit of an unreported record has no base, where there was a copy, and is sent anew.
    case .sinkTellsOfNothing: [.noLostEdit, .convergence, .replication, .oneEffect]
    case .storeKeepsSettledEdits: [.convergence, .oneEffect, .replication]
    case .storeOverlooksReferrers, .storeOverlooksMissingTargets: [.references]
    case .leaseUnheeded, .leaseWithoutFence, .fenceOutsideTransaction: [.oneCommitter]
    case .leaseForEver: [.liveness]
    case .sinkSendsTwice: [.oneEffect]
    }
  }
}
