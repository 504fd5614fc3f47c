/// Something that has to happen in some of the worlds, or they are too kind to prove anything.
public enum Sight: String, Hashable, Sendable, CaseIterable, Codable {
  /// A call of a port failed before it had an effect.
  case callFailed
  /// A call of the store had its effect and was reported as failed.
  case acknowledgementLost
  /// A request of the remote had its effect and was reported as failed.
  case answerLost
  /// A call took very long.
  case callStalled
  /// A process was killed before a call took effect.
  case killedBeforeCall
  /// A process was killed after a call took effect.
  case killedAfterCall
  /// A process was stopped for longer than its lease.
  case processStopped
  /// A process lost its lease while it was away.
  case leaseLost
  /// A process was refused the lease because another has it.
  case leaseRefused
  /// A lease was taken over that nobody had given back.
  case leaseTakenOver
  /// A sync was cancelled.
  case syncCancelled
  /// A sync failed.
  case syncFailed
  /// A sync went on in the middle of a pass that an earlier one had begun.
  case passResumed
  /// A token was void and a pass started over.
  case passReset
  /// A record was parked because it refers to one that is not there.
  case parked
  /// A deletion was held because something refers to its record.
  case held
  /// Bytes were quarantined.
  case quarantined
  /// A record of a newer schema was kept for later.
  case incompatible
  /// A change waited for the publication of its type.
  case staged
  /// A record was missed by one listing of a moving collection.
  case missing
  /// A complete listing showed that a record is gone.
  case swept
  /// An older copy came after a newer one.
  case olderCopy
  /// A record that had been set aside was applied by a later sync.
  case replayed
  /// A page came twice.
  case pageRepeated
  /// A page was empty and not the last.
  case pageEmptied
  /// A replica answered that lagged behind.
  case replicaLagged
  /// A listing of a moving collection lacked a record that was there.
  case leftOut
  /// A change became visible later than its time says.
  case committedLate
  /// A remote was wiped.
  case remoteWiped
  /// A clock was set.
  case clockJumped
  /// A process learned a newer schema.
  case schemaUpgraded
  /// A second caller shared the first one's result.
  case joined
  /// A remote asked for a pause longer than anybody waits.
  case pauseBeyondCap
  /// The network was away.
  case offline
  /// The app edited a record.
  case edited
  /// An edit was pushed, and taken.
  case pushed
  /// An edit that had been taken was sent again, because the answer had been lost.
  case pushRepeated
  /// A push met what somebody else had made of the record.
  case pushMetAnother
  /// A conflict was settled in favour of the app.
  case conflictWon
  /// A conflict was settled in favour of the remote.
  case conflictLost
  /// A conflict was settled by a merge.
  case conflictMerged
  /// Two edits met whose stamps only the replicas' names tell apart, or nothing does.
  case stampsTied
  /// An edit was given up, or taken back, whose record a complete listing had not looked for: the next one had to come at once.
  case listingOwed
  /// The remote refused an edit, or put it off.
  case editRefused
  /// The remote had no room.
  case remoteFull
  /// The app made room at the remote.
  case roomMade
  /// A rebuild collapsed duplicates.
  case duplicatesCollapsed
  /// A rebuild went on where another process, or life, had stopped.
  case rebuildResumed
  /// A rebuild that was complete was asked for again.
  case rebuildRepeated
  /// A sighting was recorded.
  case sightingRecorded
  /// A sighting came too soon to be recorded.
  case sightingCached
  /// A commit was checked against the pages that it claims.
  case commitChecked
  /// A store was compared with the remote at the end.
  case convergenceChecked
  /// An answer to a cancellation was timed.
  case promptnessChecked
  /// A requested pause was seen to be kept.
  case requestedPauseKept
  /// An edit that left the outbox was looked for.
  case editTraced
  /// The app's declarations changed.
  case declarationsChanged
  /// The app went over to another remote.
  case sourceExchanged
  /// A clean-up hid a record.
  case hidden
  /// A hidden record was shown again.
  case revealed
  /// The sink answered a change with something later than what the change led to.
  case answeredAsOfNow
  /// The remote spelled a record its own way.
  case respelled
  /// The sink threw at a batch because of one record in it.
  case batchRejected
  /// A policy's merge was no record that could be shown.
  case policyBroken
  /// The remote did not let a record be looked up.
  case lookupRefused
  /// Records of one type that refer to each other were shown together.
  case circleShown
  /// Records of one type that refer to each other went together.
  case circleGone
  /// A data set that came with the app was loaded.
  case bundleLoaded
  /// A trigger started a sync.
  case triggered
  /// The time that a system gave was up before the sync was.
  case timeUp
}
