/// An event that must occur in some of the worlds.
///
/// Otherwise the worlds have too few faults to prove anything.
public enum Sight: String, Hashable, Sendable, CaseIterable, Codable {
  /// A port call failed without an effect.
  case callFailed
  /// A store call had its effect and reported a failure.
  case acknowledgementLost
  /// A remote request had its effect and reported a failure.
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
  /// A process was refused the lease because another one has it.
  case leaseRefused
  /// A lease was taken over without having been given back.
  case leaseTakenOver
  /// A sync was cancelled.
  case syncCancelled
  /// A sync failed.
  case syncFailed
  /// A sync continued a pass that an earlier one had begun.
  case passResumed
  /// A token was invalid and a pass started over.
  case passReset
  /// A record was parked because it refers to a missing one.
  case parked
  /// A deletion was held because another record refers to its record.
  case held
  /// Bytes were quarantined.
  case quarantined
  /// A record of a newer schema was withheld.
  case incompatible
  /// A change waited for the publication of its type.
  case staged
  /// One listing of a moving collection missed a record.
  case missing
  /// A complete listing showed that a record is gone.
  case swept
  /// An older copy arrived after a newer one.
  case olderCopy
  /// A later sync applied a withheld change.
  case replayed
  /// A page was repeated.
  case pageRepeated
  /// A page was empty and not the last one.
  case pageEmptied
  /// A lagging replica answered.
  case replicaLagged
  /// A listing of a moving collection lacked an existing record.
  case leftOut
  /// A change became visible later than its timestamp.
  case committedLate
  /// A listing of keys alone followed a delta.
  case keysListed
  /// A remote was wiped.
  case remoteWiped
  /// A clock jumped.
  case clockJumped
  /// A process learned a newer schema.
  case schemaUpgraded
  /// A second caller shared the first one's result.
  case joined
  /// A remote requested a longer pause than the engine's limit.
  case pauseBeyondCap
  /// The network was unreachable.
  case offline
  /// The app edited a record.
  case edited
  /// Some records were read at once, each by a task.
  case recordsReadAtOnce
  /// A form was written whose record had changed since it was opened.
  case formOutdated
  /// A form was written again, with a value set back.
  case formWrittenAgain
  /// An edit was pushed and accepted.
  case pushed
  /// An accepted edit was sent again, because the answer had been lost.
  case pushRepeated
  /// A push met another client's change of the record.
  case pushMetAnother
  /// A conflict was settled in favour of the app.
  case conflictWon
  /// A conflict was settled in favour of the remote.
  case conflictLost
  /// A conflict was settled by a merge.
  case conflictMerged
  /// Two edits met whose stamps differ only in the replica, or not at all.
  case stampsTied
  /// An edit without a complete listing of its record was given up or reverted.
  ///
  /// The next listing had to come at once.
  case listingOwed
  /// The remote refused or postponed an edit.
  case editRefused
  /// The remote was full.
  case remoteFull
  /// The remote applied an atomic group.
  case groupApplied
  /// The app made room at the remote.
  case roomMade
  /// A rebuild merged duplicates.
  case duplicatesCollapsed
  /// A rebuild continued after an interruption in another process or life.
  case rebuildResumed
  /// A completed rebuild was requested again.
  case rebuildRepeated
  /// A sighting was recorded.
  case sightingRecorded
  /// A sighting came too soon to be recorded.
  case sightingCached
  /// A commit was checked against its pages.
  case commitChecked
  /// A store was compared with the remote at the end.
  case convergenceChecked
  /// The reaction to a cancellation was timed.
  case promptnessChecked
  /// A requested pause was kept.
  case requestedPauseKept
  /// An edit that left the outbox was checked.
  case editTraced
  /// The app's declarations changed.
  case declarationsChanged
  /// A sync was refused, because another version has registered its declarations.
  case declarationsReplaced
  /// The app changed to another remote.
  case sourceExchanged
  /// A clean-up hid a record.
  case hidden
  /// A hidden record was shown again.
  case revealed
  /// The sink answered a change with a later state than its result.
  case answeredAsOfNow
  /// The remote spelled a record in its own way.
  case respelled
  /// The sink threw at a batch because of one record in it.
  case batchRejected
  /// A policy's merge was a record that cannot be shown.
  case policyBroken
  /// The remote refused a lookup.
  case lookupRefused
  /// Records of one type that refer to each other were shown together.
  case circleShown
  /// Records of one type that refer to each other were removed together.
  case circleGone
  /// A bundled data set was loaded.
  case bundleLoaded
  /// A trigger started a sync.
  case triggered
  /// The system's time limit ended before the sync.
  case timeUp
  /// A form was refused whose record had changed, as it demanded.
  case formRefused
  /// The app inserted a default.
  case defaultInserted
  /// A default gave way to what the remote has.
  case defaultYielded
  /// A record that was deleted elsewhere was restored, because another refers to it.
  case targetRestored
  /// A reference to a record that was deleted elsewhere became null.
  case referenceCleared
  /// A record was deleted with the record it refers to, which was deleted elsewhere.
  case referrerDeleted
  /// An edit restored an immutable field.
  case fieldRestored
  /// The remote wrote an immutable field itself.
  case fieldAssigned
  /// The remote refused a value that another record has.
  case valueTaken
  /// A value was free after a deletion, and its refused edit was accepted.
  case valueFreed
  /// A policy added up what two writers had added.
  case summed
  /// A clock was put right while an edit was pending that was made before.
  case clockPutRight
  /// An edit that was made under a wrong clock met another one.
  case wrongClockMet
  /// Another device edited a record.
  case editedElsewhere
  /// Another device merged duplicates.
  case collapsedElsewhere
  /// A new device was compared with the remote.
  case newDeviceCompared
  /// Another person logged in.
  case accountExchanged
  /// A store forgot the person before.
  case accountForgotten
  /// A remote was restored from a backup, and said so.
  case remoteRestored
  /// A remote was restored from a backup, and its tokens did not show it.
  case restorationUntold
  /// A listing stated a false number of records.
  case totalFalse
  /// A remote refused the next page of a listing.
  case listCapped
  /// Records of one time came in another order than before.
  case tiesReordered
  /// A page repeated records of the page before.
  case tieRepeated
  /// An answer had another value of a member under an equal version.
  case memberVaried
  /// The remote stored another form of an edit than was sent.
  case normalised
  /// The remote gave a record a key of its own.
  case keyAssigned
  /// An edit of a record that the remote has given another key named it by its former key.
  case formerKeyEdited
}

extension [Sight: Int] {
  /// Whether a remote has given out numbers of versions again.
  var haveVersionsStartedOver: Bool {
    (self[.remoteWiped] ?? self[.remoteRestored] ?? self[.restorationUntold]) != nil
  }
}
