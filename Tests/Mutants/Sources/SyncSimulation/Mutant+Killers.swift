import SyncModels

extension Mutant {
  /// The hazards without which no world shows the flaw.
  var needs: Set<Hazard> {
    switch self {
    case .shownAndHidden: [.circles, .cleanUps]
    case .hiddenForEver, .hiddenTakenForListed: [.cleanUps]
    case .circlesNeverShown, .circlesNeverGo: [.circles]
    case .failingEditSentTwice, .failingEditStopsOthers: [.failingEdits]
    case .tombstoneUnchecked: [.staleReplica]
    case .answerUnmet: [.presentAnswers]
    case .demandIgnored: [.localEdits]
    case .defaultTakenForAnEdit: [.defaults]
    case .restorationTakenForAnEdit: [.immutableFields]
    case .assignmentUnnoticed: [.assignedFields, .immutableFields]
    case .equalEditsTakenForOne: [.sums, .localEdits]
    case .refusedForEver, .interruptedReviewForgotten: [.uniqueValues]
    case .pendingClockTrusted: [.jumpingClocks, .localEdits]
    case .accountUnchecked, .forgottenEditsKept: [.exchangedAccounts]
    case .resyncKeepsTheEpoch: [.restoredRemotes]
    case .totalTrusted: [.lyingTotals]
    case .equalVersionIsAnother: [.volatileMembers, .localEdits]
    case .acceptedFormIgnored: [.normalising, .localEdits]
    case .ownCopyReplaces: [.volatileMembers]
    case .movedReferencesKept, .movedEditForgotten, .formerDeletionForgotten:
      [.assignedKeys, .localEdits]
    case .arrivalUnmarked: [.assignedKeys, .localEdits, .lostAnswers]
    case .bundledTakenForNew: [.assignedKeys, .localEdits, .bundles]
    default: []
    }
  }

  /// The only hazards of the worlds that look for the flaw; `nil` for the usual ones.
  ///
  /// It takes a rare order of events, which other hazards make rarer.
  var alone: Set<Hazard>? {
    switch self {
    case .shownAndHidden:
      [.circles, .cleanUps, .localEdits, .changingDeclarations, .oddPages, .cancellations, .stoppedProcesses]
    case .tombstoneUnchecked: [.staleReplica, .localEdits, .oddPages, .stoppedProcesses]
    case .loserGoesWithItsWinner: [.otherDevices, .duplicates, .localEdits, .oddPages]
    case .bundledWinnerUnknown: [.bundles, .duplicates, .localEdits]
    case .groupsForgotten: [.localEdits]
    case .groupNotBroken: [.localEdits, .lateCommits]
    default: nil
    }
  }

  /// The promises that the flaw breaks; one of them has to be broken first.
  var killers: Set<Promise> {
    switch self {
    // A token behind a deletion that was never written keeps the record for ever.
    case .watermarkOfACancelledPage: [.atomicPage, .nothingSilent, .convergence]
    case .watermarkBeforeTheEnd, .watermarkFirst: [.atomicPage, .nothingSilent]
    case .watermarkApart: [.atomicPage, .nothingSilent, .convergence]
    case .errorSwallowed: [.convergence, .atomicPage]
    case .resumedFromTheStart, .cancellationUnheard: [.cancellation]
    // After a change of the source, edits stand on bases that the new one never had.
    case .scopeIgnored: [.convergence, .bounds, .honestConflicts, .liveness]
    case .overlapForgotten, .tokenIsMaximum, .timestampAlone, .offsetPaging: [.convergence]
    case .timestampWithoutProgress: [.liveness, .bounds]
    case .requestedPauseIgnored, .retriesWithoutEnd, .pagesAheadWithoutEnd: [.bounds]
    // Under a clock that is ahead, a change that a trigger reported looks old, and never comes.
    case .clientClockAsVersion: [.replication, .convergence, .nothingSilent, .liveness]
    case .copyUnchecked, .tombstoneUnchecked: [.replication, .convergence, .nothingSilent]
    // A change of a new epoch that a trigger reported looks old, and never comes.
    case .epochForgotten: [.replication, .convergence, .nothingSilent, .liveness]
    case .tombstoneForgotten, .malformedDropped: [.nothingSilent]
    case .malformedStopsItsPage: [.liveness, .honestErrors]
    case .supersededUncounted: [.balance]
    case .childFirst, .parentDeletedFirst: [.references]
    case .parkedForEver, .heldForEver: [.convergence, .references]
    // A row that kept its mark also counts as one of the same listing, whose count is retracted.
    case .marksKept: [.convergence, .nothingSilent, .balance]
    case .sweepNever: [.convergence, .liveness]
    case .sweepAtOnce: [.references]
    case .tiesByArrival, .tieRuleNotTotal: [.arithmetic]
    case .outboxEmptiedTooEarly: [.noLostEdit, .convergence]
    case .nameForEachAttempt: [.oneEffect]
    case .throttleKeptAfterAFailure: [.throttle]
    case .rebuildDeletesAll, .rebuildElectsALoser: [.onlyLosers]
    case .rebuildKeepsALoser: [.convergence]
    case .rebuildProgressLost: [.rebuiltOnce]
    case .rebuildIsAWrite: [.onlyLosers]
    case .bundledWinnerUnknown, .deletionsWaitInACircle: [.convergence]
    case .circlesNeverShown, .circlesNeverGo, .hiddenForEver, .shownAndHidden: [.convergence]
    case .hiddenTakenForListed: [.convergence, .noResurrection]
    case .answerUnmet: [.honestConflicts]
    case .policyUnchecked: [.references, .convergence]
    // The batch that fails as a whole goes out again and again.
    case .failingEditStopsOthers: [.convergence, .bounds]
    case .declarationsIgnored: [.references, .convergence]
    case .formWrittenWhole, .formSavedOnce: [.noLostEdit]
    case .failingEditSentTwice: [.bounds]
    case .lookupStopsAllTypes: [.liveness]
    case .demandIgnored: [.noLostEdit]
    case .defaultTakenForAnEdit, .restorationTakenForAnEdit: [.honestConflicts]
    // The remote's value and the earliest one replace each other with each push.
    case .assignmentUnnoticed: [.convergence]
    case .equalEditsTakenForOne: [.noLostEdit]
    case .refusedForEver, .interruptedReviewForgotten: [.convergence]
    case .deletionRulesIgnored: [.convergence]
    case .pendingClockTrusted: [.arithmetic]
    case .sharedReadsMixed: [.freshReads]
    case .accountUnchecked: [.oneAccount, .convergence, .replication]
    case .forgottenEditsKept: [.oneAccount]
    case .losersAtOnce, .loserGoesWithItsWinner: [.onlyLosers]
    case .unseenReferrersIgnored: [.references]
    case .groupsForgotten, .groupNotBroken: [.atomicGroup]
    case .resyncKeepsTheEpoch: [.convergence, .replication, .nothingSilent]
    case .totalTrusted: [.atomicPage, .convergence, .nothingSilent]
    case .equalVersionIsAnother: [.honestConflicts]
    case .acceptedFormIgnored: [.convergence]
    // It comes back from no page.
    case .ownCopyReplaces: [.atomicPage, .convergence]
    case .movedReferencesKept: [.references, .convergence]
    case .movedEditForgotten: [.noLostEdit]
    case .formerDeletionForgotten: [.replication]
    case .arrivalUnmarked: [.oneEffect]
    case .bundledTakenForNew: [.convergence]
    }
  }
}
