import SyncConformance

extension FlawedStore {
  /// A promise that the store breaks.
  enum Flaw: String, CaseIterable, Sendable {
    case keepsWritesOfThrowingBody, ignoresFences, givesLeaseToAll, renewsLostLeases, givesUpWhenCancelled
    case forgetsDeletionsOfUnknownRecords, countsOwnReferences, showsWhatIsWithheld
    case countsUpToTheLimit
    case sortsKeysAsStrings, roundsIntegers, losesReasons, listsByOneKindOnly, marksNothing
    case mixesEmptyWithNil, clearsAllMarks, updatesNoVersions, seesPayloadsAlike, parksForever,
      movesOnUnderReads, showsUncommitted
    case losesWhatWasSent, keepsReplacedEdits, sendsEditsByRecord, countsAllEdits, losesBases
    case listsOldConflictsFirst, mixesConflictsOfTypes, forgetsYoungConflicts, keepsRemovedConflicts
    case comparesKeysAsTheyAreSpelled
    case findsOneRecordForEachKey, missesTheLastDuplicate, matchesNothingWithNothing
    case findsNamesByCharacters, countsPlacesByPortion, showsPendingDeletions
    case keepsGroupsTogether, findsWhatWaitsAlone, forgetsNewReferences, findsOneThatLeaves, forgetsAuthors
    case listsLiveRowsOnly, observesOneChange, neverAsksToReload
    // Registration.
    case findsNothingInUnknownTypes, writesUnknownTypes, forgetsRecordsWhenRegistered,
      keepsFirstDeclarations, listsOneDeclaration, forgetsEditsWhenRegistered, hasTheNameOfAll
    // Atomicity and isolation.
    case commitsNothing, writesAtTheEnd, clearsMarksLast, releasesLast, dequeuesLast, marksFirst,
      forgetsConflictsFirst, readsBeforeItsTurn, readsInTurn
    // The lease.
    case takesLeasesInTwoSteps, comparesFencesFirst, takesNoLeaseOver, repeatsFences,
      endsLeasesOnTime, keepsReleasedLeases, releasesAnyLease, refusesAppsDuringSyncs
    // Records.
    case losesEpochs, keepsGreaterVersions, losesVersionsOfDeletions, takesKnownForLive,
      marksByPlace, trustsAnnouncements, leavesOutUnknownRecords, tidiesPayloads,
      listsRowsByCharacters, writesAThousandAtMost
    // Withheld changes.
    case keepsFirstEntries, listsEntriesBackwards, findsEntriesOfRecordsOnly, waitsFromTheStart
    // The engine's state, and observation.
    case losesMarksOfWrittenRecords, losesMarksOfDeletedRecords, remembersAThousandValues,
      rewritesOthersForNothing
    // Queries.
    case findsFirstMembersOnly, ignoresUpperBounds, joinsAllByAny, missesNullsInNegations,
      dropsQuotesInNames, readsFirstMembers, countsDeletedRecords, sortsInOneDirection,
      sortsByOneField, comparesTextsByBytes
    // Local edits.
    case findsEditsByCharacters, sortsLeavingEditsByCharacters, losesReasonsOfConflicts

    /// The checks that detect the flaw.
    var checks: [LocalStoreCheck] {
      switch self {
      case .keepsWritesOfThrowingBody: [.throwingBodyLeavesNothing]
      case .ignoresFences: [.lostLeaseCannotWrite]
      case .givesLeaseToAll: [.leaseHasOneHolder]
      case .renewsLostLeases: [.lostLeaseCannotBeRenewed, .renewedLeaseLasts]
      case .givesUpWhenCancelled: [.cancelledTaskCompletesItsWrite]
      case .forgetsDeletionsOfUnknownRecords: [.deletionOfUnknownRecordIsRemembered]
      case .countsOwnReferences: [.referencesByOthersAreTold]
      case .showsWhatIsWithheld: [.entriesShowNothing]
      case .countsUpToTheLimit: [.limitsAndPortions]
      case .sortsKeysAsStrings, .listsRowsByCharacters: [.keysCompareByBytes]
      case .roundsIntegers: [.equalComparesExactlyWithinAType]
      case .losesReasons: [.everyKindAndChangeComesBack]
      case .listsByOneKindOnly: [.kindsAreToldApartAndCounted]
      case .marksNothing, .clearsAllMarks: [.marksTellWhatAListingHeld]
      case .mixesEmptyWithNil: [.valuesComeBack]
      case .updatesNoVersions: [.newVersionsKeepPayloads]
      case .seesPayloadsAlike: [.statesTellWhatAMergeNeeds]
      case .parksForever, .waitsFromTheStart: [.parkedEntriesAreFoundByWhatTheyWaitFor]
      case .movesOnUnderReads: [.readSeesOneUnchangingState]
      case .showsUncommitted: [.readSeesNothingUncommitted]
      case .losesWhatWasSent, .losesBases, .forgetsAuthors: [.outboxEntriesComeBackWhole]
      case .keepsReplacedEdits: [.outboxEntryReplacesItsRecords]
      case .sendsEditsByRecord: [.outboxComesByStampInPortions]
      case .countsAllEdits: [.outboxIsCountedByType]
      case .listsOldConflictsFirst, .mixesConflictsOfTypes: [.conflictsAreNumberedNewestFirst]
      case .forgetsYoungConflicts, .keepsRemovedConflicts: [.oldConflictsAreForgotten]
      case .comparesKeysAsTheyAreSpelled: [.naturalKeysAreNormalized]
      case .findsOneRecordForEachKey: [.recordsAreFoundByNaturalKey]
      case .missesTheLastDuplicate: [.duplicatesComeInByteOrderAndPortions]
      case .countsPlacesByPortion: [.duplicatesKeepTheirPlaces]
      case .showsPendingDeletions: [.pendingDeletionsMatchNothing]
      case .findsWhatWaitsAlone: [.entriesAreFoundByWhatTheyReferTo]
      case .forgetsNewReferences: [.changedReferencesHoldForAllEntries]
      case .findsOneThatLeaves, .sortsLeavingEditsByCharacters: [.outboxEntriesAreFoundByWhatTheyLeave]
      case .keepsGroupsTogether: [.groupsAreReadAsTheyAre]
      case .listsLiveRowsOnly: [.rowsShowLiveAndDeletedRecords]
      case .observesOneChange, .rewritesOthersForNothing: [.changesAreObserved]
      case .neverAsksToReload: [.manyChangesAreReloaded, .oldPositionsAreReloaded]
      case .findsNamesByCharacters: [.keysAreFoundByPrefix]
      case .matchesNothingWithNothing: [.nullsHaveNoNaturalKey]
      case .findsNothingInUnknownTypes: [.unregisteredTypeIsRefused]
      case .writesUnknownTypes: [.unregisteredTypeIsNotWritten]
      case .forgetsRecordsWhenRegistered: [.registeringAgainChangesNothing]
      case .keepsFirstDeclarations:
        [
          .newFieldIsFilledIn, .droppedFieldIsGone, .changedNaturalKeyHoldsForAllRecords,
          .changedReferencesHoldForAllEntries,
        ]
      case .listsOneDeclaration: [.undeclaredTypeStays]
      case .forgetsEditsWhenRegistered: [.registrationKeepsTheRest]
      case .hasTheNameOfAll: [.storeHasItsOwnIdentity]
      case .commitsNothing: [.returningBodyCommitsAll]
      case .writesAtTheEnd: [.transactionSeesItsOwnWrites]
      case .clearsMarksLast, .releasesLast, .dequeuesLast, .marksFirst, .forgetsConflictsFirst:
        [.roundIsWrittenInOrder]
      case .readsBeforeItsTurn: [.concurrentWritesQueue]
      case .readsInTurn: [.readsRunBesideEachOther]
      case .takesLeasesInTwoSteps: [.racedLeaseHasOneHolder]
      case .comparesFencesFirst: [.leaseTakenOverDuringAWriteStopsIt, .leaseTakenOverBeforeAWriteStopsIt]
      case .takesNoLeaseOver: [.leaseThatRanOutIsTakenOver]
      case .repeatsFences: [.fencesRise]
      case .endsLeasesOnTime: [.overdueLeaseGoesOnUntilTakenOver]
      case .keepsReleasedLeases: [.releasedLeaseIsFree]
      case .releasesAnyLease: [.releasingALostLeaseDoesNothing]
      case .refusesAppsDuringSyncs: [.appWritesNeedNoLease]
      case .losesEpochs: [.versionsComeBackWhole]
      case .keepsGreaterVersions: [.putMakesACopyTheLiveOne]
      case .losesVersionsOfDeletions: [.deletedRecordKeepsItsVersion]
      case .takesKnownForLive: [.liveOnesAreTold]
      case .marksByPlace: [.aBatchMayBePartOfTheOneLookedUp]
      case .trustsAnnouncements: [.wrongAnnouncementsChangeNothing]
      case .leavesOutUnknownRecords: [.recordsKeepTheirPlaces]
      case .tidiesPayloads: [.payloadsKeepTheirBytes]
      case .writesAThousandAtMost: [.batchesMayBeEmptyOrLarge]
      case .keepsFirstEntries: [.entryReplacesTheOneWithItsKey]
      case .listsEntriesBackwards: [.entriesComeByKeyInPortions]
      case .findsEntriesOfRecordsOnly: [.entriesAreFoundByKey]
      case .losesMarksOfWrittenRecords, .losesMarksOfDeletedRecords: [.marksStayWithTheirRecord]
      case .remembersAThousandValues: [.manyValuesComeBack]
      case .findsFirstMembersOnly: [.membershipIsEqualityWithAny]
      case .ignoresUpperBounds: [.rangesStayWithinAType]
      case .joinsAllByAny: [.conditionsCombine]
      case .missesNullsInNegations: [.notHoldsWhereTheConditionDoesNot]
      case .dropsQuotesInNames: [.fieldNamesMayHoldAnything]
      case .readsFirstMembers: [.lastOfRepeatedMembersCounts]
      case .countsDeletedRecords: [.queriesSeeLiveRecordsOfTheirType]
      case .sortsInOneDirection: [.orderIsTotal]
      case .sortsByOneField: [.laterSortFieldsBreakTies]
      case .comparesTextsByBytes: [.textsCompareByTheirMeaning]
      case .findsEditsByCharacters: [.outboxEntriesAreFoundByRecord]
      case .losesReasonsOfConflicts: [.conflictsComeBackWhole]
      }
    }

    /// Each flaw with each of its checks.
    static let found = allCases.flatMap { flaw in flaw.checks.map { (flaw, $0) } }
  }
}
