/// A deliberate flaw of the library, which the simulator must detect.
package enum Mutant: String, Hashable, Sendable, CaseIterable {
  // Hidden again and again. It takes the most worlds, so the search for it begins first.
  case shownAndHidden
  // Checkpoints.
  case watermarkBeforeTheEnd, watermarkFirst, watermarkApart, resumedFromTheStart, scopeIgnored
  case watermarkOfACancelledPage
  // Faulty sources.
  case timestampAlone, timestampWithoutProgress, offsetPaging, tokenIsMaximum, overlapForgotten
  // Failures.
  case errorSwallowed, requestedPauseIgnored, retriesWithoutEnd, pagesAheadWithoutEnd, cancellationUnheard
  // Merging.
  case clientClockAsVersion, copyUnchecked, tombstoneUnchecked, tombstoneForgotten, epochForgotten
  case malformedStopsItsPage, malformedDropped, supersededUncounted
  // References.
  case childFirst, parentDeletedFirst, parkedForEver, heldForEver
  // Sweeps.
  case marksKept, sweepNever, sweepAtOnce
  // Edits.
  case tiesByArrival, tieRuleNotTotal, outboxEmptiedTooEarly, nameForEachAttempt, throttleKeptAfterAFailure
  // Rebuilds.
  case rebuildDeletesAll, rebuildKeepsALoser, rebuildElectsALoser, rebuildProgressLost
  case rebuildIsAWrite, bundledWinnerUnknown
  // Cycles, and hidden records.
  case circlesNeverShown, circlesNeverGo, hiddenForEver, hiddenTakenForListed
  // Other parts: a sink, a policy, an update of the app.
  case answerUnmet, policyUnchecked, declarationsIgnored, formWrittenWhole, formSavedOnce
  case failingEditStopsOthers, failingEditSentTwice, lookupStopsAllTypes, deletionsWaitInACircle
  // Edits that another client's change meets.
  case demandIgnored, defaultTakenForAnEdit, restorationTakenForAnEdit, assignmentUnnoticed
  case equalEditsTakenForOne, refusedForEver, deletionRulesIgnored
  case interruptedReviewForgotten, pendingClockTrusted
  // Reads.
  case sharedReadsMixed
  // Accounts, and other devices.
  case accountUnchecked, forgottenEditsKept
  // Deletions that go out.
  case losersAtOnce, loserGoesWithItsWinner, unseenReferrersIgnored
  // Groups of edits.
  case groupsForgotten, groupNotBroken
  // Remotes that do not keep their word.
  case resyncKeepsTheEpoch, totalTrusted, equalVersionIsAnother, acceptedFormIgnored
  case ownCopyReplaces
  // Keys of the remote.
  case movedReferencesKept, movedEditForgotten, formerDeletionForgotten, arrivalUnmarked, bundledTakenForNew

  /// The flaw of the world that the current task belongs to.
  @TaskLocal package static var current: Mutant?

  /// Whether the current world has this flaw.
  package var isActive: Bool { Mutant.current == self }
}
