/// One promise of `LocalStore` and its transactions, as a check for any adapter.
///
/// Run every case with its own empty store, and report each separately; see ``LocalStoreHarness``.
public enum LocalStoreCheck: String, CaseIterable, Sendable {
  /// A promise about the registration of types.
  case unregisteredTypeIsRefused, unregisteredTypeIsNotWritten, registeringAgainChangesNothing,
    newFieldIsFilledIn, droppedFieldIsGone, undeclaredTypeStays, registrationKeepsTheRest,
    storeHasItsOwnIdentity
  /// A promise about atomicity and isolation.
  case throwingBodyLeavesNothing, returningBodyCommitsAll, transactionSeesItsOwnWrites,
    cancelledTaskCompletesItsWrite, roundIsWrittenInOrder, concurrentWritesQueue, readSeesOneUnchangingState,
    readSeesNothingUncommitted, readsRunBesideEachOther
  /// A promise about the lease.
  case leaseHasOneHolder, racedLeaseHasOneHolder, leaseThatRanOutIsTakenOver, fencesRise,
    lostLeaseCannotWrite, leaseTakenOverDuringAWriteStopsIt, leaseTakenOverBeforeAWriteStopsIt,
    lostLeaseCannotBeRenewed, renewedLeaseLasts, overdueLeaseGoesOnUntilTakenOver, releasedLeaseIsFree,
    releasingALostLeaseDoesNothing, appWritesNeedNoLease
  /// A promise about records.
  case versionsComeBackWhole, putMakesACopyTheLiveOne, newVersionsKeepPayloads,
    deletedRecordKeepsItsVersion, deletionOfUnknownRecordIsRemembered, statesTellWhatAMergeNeeds,
    liveOnesAreTold, referencesByOthersAreTold, aBatchMayBePartOfTheOneLookedUp,
    wrongAnnouncementsChangeNothing, recordsKeepTheirPlaces, payloadsKeepTheirBytes, keysCompareByBytes,
    batchesMayBeEmptyOrLarge
  /// A promise about withheld changes.
  case everyKindAndChangeComesBack, entryReplacesTheOneWithItsKey, entriesComeByKeyInPortions,
    kindsAreToldApartAndCounted, entriesAreFoundByKey, parkedEntriesAreFoundByWhatTheyWaitFor,
    entriesAreFoundByWhatTheyReferTo, changedReferencesHoldForAllEntries, entriesShowNothing
  /// A promise about the state that the engine keeps.
  case marksTellWhatAListingHeld, marksStayWithTheirRecord, rowsShowLiveAndDeletedRecords, valuesComeBack,
    manyValuesComeBack, keysAreFoundByPrefix
  /// A promise about observed changes.
  case changesAreObserved, changesOfOtherHandlesAreObserved, manyChangesAreReloaded, oldPositionsAreReloaded
  /// A promise about queries.
  case equalComparesExactlyWithinAType, membershipIsEqualityWithAny, rangesStayWithinAType,
    conditionsCombine, notHoldsWhereTheConditionDoesNot, fieldNamesMayHoldAnything,
    lastOfRepeatedMembersCounts, queriesSeeLiveRecordsOfTheirType, orderIsTotal, laterSortFieldsBreakTies,
    textsCompareByTheirMeaning,
    limitsAndPortions
  /// A promise about local edits.
  case outboxEntriesComeBackWhole, outboxEntryReplacesItsRecords, outboxEntriesAreFoundByRecord,
    outboxComesByStampInPortions, outboxIsCountedByType, outboxEntriesAreFoundByWhatTheyLeave,
    conflictsComeBackWhole, conflictsAreNumberedNewestFirst, oldConflictsAreForgotten
  /// A promise about natural keys.
  case recordsAreFoundByNaturalKey, naturalKeysAreNormalized, nullsHaveNoNaturalKey,
    duplicatesComeInByteOrderAndPortions, duplicatesKeepTheirPlaces, groupsAreReadAsTheyAre,
    pendingDeletionsMatchNothing, changedNaturalKeyHoldsForAllRecords
  /// A promise about other handles of the store.
  case reopenedStoreHoldsWhatWasCommitted, handlesSeeEachOthersCommits

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the store.
  public func run(on harness: LocalStoreHarness) async throws -> ConformanceOutcome {
    if needsLeaseClock && harness.advanceLeaseClock == nil {
      return .skipped("The harness cannot advance the lease clock.")
    }
    if needsDurability && !harness.isDurable {
      return .skipped("The store does not outlive its process.")
    }
    if needsConcurrentReads && !harness.readsAreConcurrent {
      return .skipped("The store's reads wait for other reads or for writes.")
    }
    return try await ConformanceOutcome { try await body(StoreBench(harness)) }
  }

  private var needsLeaseClock: Bool {
    switch self {
    case .leaseThatRanOutIsTakenOver, .lostLeaseCannotWrite, .leaseTakenOverDuringAWriteStopsIt,
      .leaseTakenOverBeforeAWriteStopsIt, .lostLeaseCannotBeRenewed, .renewedLeaseLasts,
      .overdueLeaseGoesOnUntilTakenOver, .releasingALostLeaseDoesNothing:
      true
    default: false
    }
  }

  private var needsConcurrentReads: Bool {
    switch self {
    case .readSeesOneUnchangingState, .readSeesNothingUncommitted, .readsRunBesideEachOther: true
    default: false
    }
  }

  private var needsDurability: Bool { self == .reopenedStoreHoldsWhatWasCommitted }

  private var body: @Sendable (StoreBench) async throws -> Void {
    switch self {
    case .unregisteredTypeIsRefused: RegistrationChecks.unregisteredTypeIsRefused
    case .unregisteredTypeIsNotWritten: RegistrationChecks.unregisteredTypeIsNotWritten
    case .registeringAgainChangesNothing: RegistrationChecks.registeringAgainChangesNothing
    case .newFieldIsFilledIn: RegistrationChecks.newFieldIsFilledIn
    case .droppedFieldIsGone: RegistrationChecks.droppedFieldIsGone
    case .undeclaredTypeStays: RegistrationChecks.undeclaredTypeStays
    case .registrationKeepsTheRest: RegistrationChecks.registrationKeepsTheRest
    case .storeHasItsOwnIdentity: RegistrationChecks.storeHasItsOwnIdentity
    case .throwingBodyLeavesNothing: AtomicityChecks.throwingBodyLeavesNothing
    case .returningBodyCommitsAll: AtomicityChecks.returningBodyCommitsAll
    case .transactionSeesItsOwnWrites: AtomicityChecks.transactionSeesItsOwnWrites
    case .cancelledTaskCompletesItsWrite: AtomicityChecks.cancelledTaskCompletesItsWrite
    case .roundIsWrittenInOrder: ConcurrencyChecks.roundIsWrittenInOrder
    case .concurrentWritesQueue: ConcurrencyChecks.concurrentWritesQueue
    case .readSeesOneUnchangingState: AtomicityChecks.readSeesOneUnchangingState
    case .readSeesNothingUncommitted: AtomicityChecks.readSeesNothingUncommitted
    case .readsRunBesideEachOther: ConcurrencyChecks.readsRunBesideEachOther
    case .leaseHasOneHolder: LeaseChecks.leaseHasOneHolder
    case .racedLeaseHasOneHolder: LeaseChecks.racedLeaseHasOneHolder
    case .leaseThatRanOutIsTakenOver: LeaseChecks.leaseThatRanOutIsTakenOver
    case .fencesRise: LeaseChecks.fencesRise
    case .lostLeaseCannotWrite: LeaseChecks.lostLeaseCannotWrite
    case .leaseTakenOverDuringAWriteStopsIt: LeaseChecks.leaseTakenOverDuringAWriteStopsIt
    case .leaseTakenOverBeforeAWriteStopsIt: LeaseChecks.leaseTakenOverBeforeAWriteStopsIt
    case .lostLeaseCannotBeRenewed: LeaseChecks.lostLeaseCannotBeRenewed
    case .renewedLeaseLasts: LeaseChecks.renewedLeaseLasts
    case .overdueLeaseGoesOnUntilTakenOver: LeaseChecks.overdueLeaseGoesOnUntilTakenOver
    case .releasedLeaseIsFree: LeaseChecks.releasedLeaseIsFree
    case .releasingALostLeaseDoesNothing: LeaseChecks.releasingALostLeaseDoesNothing
    case .appWritesNeedNoLease: LeaseChecks.appWritesNeedNoLease
    case .versionsComeBackWhole: RowChecks.versionsComeBackWhole
    case .putMakesACopyTheLiveOne: RowChecks.putMakesACopyTheLiveOne
    case .newVersionsKeepPayloads: RowChecks.newVersionsKeepPayloads
    case .deletedRecordKeepsItsVersion: RowChecks.deletedRecordKeepsItsVersion
    case .deletionOfUnknownRecordIsRemembered: RowChecks.deletionOfUnknownRecordIsRemembered
    case .statesTellWhatAMergeNeeds: RowChecks.statesTellWhatAMergeNeeds
    case .liveOnesAreTold: RowChecks.liveOnesAreTold
    case .referencesByOthersAreTold: RowChecks.referencesByOthersAreTold
    case .aBatchMayBePartOfTheOneLookedUp: RowChecks.aBatchMayBePartOfTheOneLookedUp
    case .wrongAnnouncementsChangeNothing: RowChecks.wrongAnnouncementsChangeNothing
    case .recordsKeepTheirPlaces: RowChecks.recordsKeepTheirPlaces
    case .payloadsKeepTheirBytes: RowChecks.payloadsKeepTheirBytes
    case .keysCompareByBytes: RowChecks.keysCompareByBytes
    case .batchesMayBeEmptyOrLarge: RowChecks.batchesMayBeEmptyOrLarge
    case .everyKindAndChangeComesBack: WithheldChecks.everyKindAndChangeComesBack
    case .entryReplacesTheOneWithItsKey: WithheldChecks.entryReplacesTheOneWithItsKey
    case .entriesComeByKeyInPortions: WithheldChecks.entriesComeByKeyInPortions
    case .kindsAreToldApartAndCounted: WithheldChecks.kindsAreToldApartAndCounted
    case .entriesAreFoundByKey: WithheldChecks.entriesAreFoundByKey
    case .parkedEntriesAreFoundByWhatTheyWaitFor: WithheldChecks.parkedEntriesAreFoundByWhatTheyWaitFor
    case .entriesAreFoundByWhatTheyReferTo: WithheldChecks.entriesAreFoundByWhatTheyReferTo
    case .changedReferencesHoldForAllEntries: WithheldChecks.changedReferencesHoldForAllEntries
    case .entriesShowNothing: WithheldChecks.entriesShowNothing
    case .marksTellWhatAListingHeld: KeptStateChecks.marksTellWhatAListingHeld
    case .marksStayWithTheirRecord: KeptStateChecks.marksStayWithTheirRecord
    case .rowsShowLiveAndDeletedRecords: KeptStateChecks.rowsShowLiveAndDeletedRecords
    case .changesAreObserved: ObservationChecks.changesAreObserved
    case .changesOfOtherHandlesAreObserved: ObservationChecks.changesOfOtherHandlesAreObserved
    case .manyChangesAreReloaded: ObservationChecks.manyChangesAreReloaded
    case .oldPositionsAreReloaded: ObservationChecks.oldPositionsAreReloaded
    case .valuesComeBack: KeptStateChecks.valuesComeBack
    case .manyValuesComeBack: KeptStateChecks.manyValuesComeBack
    case .keysAreFoundByPrefix: KeptStateChecks.keysAreFoundByPrefix
    case .equalComparesExactlyWithinAType: QueryChecks.equalComparesExactlyWithinAType
    case .membershipIsEqualityWithAny: QueryChecks.membershipIsEqualityWithAny
    case .rangesStayWithinAType: QueryChecks.rangesStayWithinAType
    case .conditionsCombine: QueryChecks.conditionsCombine
    case .notHoldsWhereTheConditionDoesNot: QueryChecks.notHoldsWhereTheConditionDoesNot
    case .fieldNamesMayHoldAnything: QueryChecks.fieldNamesMayHoldAnything
    case .lastOfRepeatedMembersCounts: QueryChecks.lastOfRepeatedMembersCounts
    case .queriesSeeLiveRecordsOfTheirType: QueryChecks.queriesSeeLiveRecordsOfTheirType
    case .orderIsTotal: QueryChecks.orderIsTotal
    case .laterSortFieldsBreakTies: QueryChecks.laterSortFieldsBreakTies
    case .textsCompareByTheirMeaning: QueryChecks.textsCompareByTheirMeaning
    case .limitsAndPortions: QueryChecks.limitsAndPortions
    case .outboxEntriesComeBackWhole: OutboxChecks.outboxEntriesComeBackWhole
    case .outboxEntryReplacesItsRecords: OutboxChecks.outboxEntryReplacesItsRecords
    case .outboxEntriesAreFoundByRecord: OutboxChecks.outboxEntriesAreFoundByRecord
    case .outboxComesByStampInPortions: OutboxChecks.outboxComesByStampInPortions
    case .outboxEntriesAreFoundByWhatTheyLeave: OutboxChecks.outboxEntriesAreFoundByWhatTheyLeave
    case .outboxIsCountedByType: OutboxChecks.outboxIsCountedByType
    case .conflictsComeBackWhole: ConflictChecks.conflictsComeBackWhole
    case .conflictsAreNumberedNewestFirst: ConflictChecks.conflictsAreNumberedNewestFirst
    case .oldConflictsAreForgotten: ConflictChecks.oldConflictsAreForgotten
    case .recordsAreFoundByNaturalKey: NaturalKeyChecks.recordsAreFoundByNaturalKey
    case .naturalKeysAreNormalized: NaturalKeyChecks.naturalKeysAreNormalized
    case .nullsHaveNoNaturalKey: NaturalKeyChecks.nullsHaveNoNaturalKey
    case .duplicatesComeInByteOrderAndPortions: NaturalKeyChecks.duplicatesComeInByteOrderAndPortions
    case .duplicatesKeepTheirPlaces: NaturalKeyChecks.duplicatesKeepTheirPlaces
    case .groupsAreReadAsTheyAre: NaturalKeyChecks.groupsAreReadAsTheyAre
    case .pendingDeletionsMatchNothing: NaturalKeyChecks.pendingDeletionsMatchNothing
    case .changedNaturalKeyHoldsForAllRecords: NaturalKeyChecks.changedNaturalKeyHoldsForAllRecords
    case .reopenedStoreHoldsWhatWasCommitted: DurabilityChecks.reopenedStoreHoldsWhatWasCommitted
    case .handlesSeeEachOthersCommits: DurabilityChecks.handlesSeeEachOthersCommits
    }
  }
}
