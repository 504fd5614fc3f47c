/// One promise of `LocalStore` and its transactions, as a check for any adapter.
///
/// Run every case with its own empty store, and report each separately; see ``LocalStoreHarness``.
public enum LocalStoreCheck: String, CaseIterable, Sendable {
  // Registration.
  case unregisteredTypeIsRefused, registeringAgainChangesNothing, newFieldIsFilledIn, droppedFieldIsGone
  case undeclaredTypeStays, storeHasItsOwnIdentity
  // Atomicity and isolation.
  case throwingBodyLeavesNothing, returningBodyCommitsAll, transactionSeesItsOwnWrites
  case cancelledTaskCompletesItsWrite, readSeesOneUnchangingState, readSeesNothingUncommitted
  // The lease.
  case leaseHasOneHolder, leaseThatRanOutIsTakenOver, fencesRise, lostLeaseCannotWrite,
    lostLeaseCannotBeRenewed
  case renewedLeaseLasts, overdueLeaseGoesOnUntilTakenOver, releasedLeaseIsFree,
    releasingALostLeaseDoesNothing
  case appWritesNeedNoLease
  // Records.
  case versionsComeBackWhole
  case putMakesACopyTheLiveOne, newVersionsKeepPayloads, deletedRecordKeepsItsVersion
  case deletionOfUnknownRecordIsRemembered, statesTellWhatAMergeNeeds, liveOnesAreTold,
    referencesByOthersAreTold, aBatchMayBePartOfTheOneLookedUp
  case recordsKeepTheirPlaces, payloadsKeepTheirBytes, keysCompareByBytes, batchesMayBeEmptyOrLarge
  // Withheld changes.
  case everyKindAndChangeComesBack, entryReplacesTheOneWithItsKey, entriesComeByKeyInPortions
  case kindsAreToldApartAndCounted, entriesAreFoundByKey, parkedEntriesAreFoundByWhatTheyWaitFor
  case entriesAreFoundByWhatTheyReferTo, changedReferencesHoldForAllEntries
  case entriesShowNothing
  // The engine's kept state.
  case marksTellWhatAListingHeld, rowsShowLiveAndDeletedRecords, valuesComeBack, keysAreFoundByPrefix
  // Observation.
  case changesAreObserved, manyChangesAreReloaded, oldPositionsAreReloaded
  // Queries.
  case equalComparesExactlyWithinAType, membershipIsEqualityWithAny, rangesStayWithinAType, conditionsCombine
  case notHoldsWhereTheConditionDoesNot, fieldNamesMayHoldAnything, lastOfRepeatedMembersCounts
  case queriesSeeLiveRecordsOfTheirType, orderIsTotal, laterSortFieldsBreakTies, limitsAndPortions
  // Local edits.
  case outboxEntriesComeBackWhole, outboxEntryReplacesItsRecords, outboxEntriesAreFoundByRecord
  case outboxComesByStampInPortions, outboxIsCountedByType, outboxEntriesAreFoundByWhatTheyLeave
  case conflictsComeBackWhole, conflictsAreNumberedNewestFirst, oldConflictsAreForgotten
  // Natural keys.
  case recordsAreFoundByNaturalKey, naturalKeysAreNormalized, nullsHaveNoNaturalKey
  case duplicatesComeInByteOrderAndPortions, duplicatesKeepTheirPlaces, groupsAreReadAsTheyAre
  case pendingDeletionsMatchNothing
  case changedNaturalKeyHoldsForAllRecords
  // Other handles.
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
    return try await ConformanceOutcome { try await body(StoreBench(harness)) }
  }

  private var needsLeaseClock: Bool {
    switch self {
    case .leaseThatRanOutIsTakenOver, .lostLeaseCannotWrite, .lostLeaseCannotBeRenewed, .renewedLeaseLasts,
      .overdueLeaseGoesOnUntilTakenOver, .releasingALostLeaseDoesNothing:
      true
    default: false
    }
  }

  private var needsDurability: Bool { self == .reopenedStoreHoldsWhatWasCommitted }

  private var body: @Sendable (StoreBench) async throws -> Void {
    switch self {
    case .unregisteredTypeIsRefused: RegistrationChecks.unregisteredTypeIsRefused
    case .registeringAgainChangesNothing: RegistrationChecks.registeringAgainChangesNothing
    case .newFieldIsFilledIn: RegistrationChecks.newFieldIsFilledIn
    case .droppedFieldIsGone: RegistrationChecks.droppedFieldIsGone
    case .undeclaredTypeStays: RegistrationChecks.undeclaredTypeStays
    case .storeHasItsOwnIdentity: RegistrationChecks.storeHasItsOwnIdentity
    case .throwingBodyLeavesNothing: AtomicityChecks.throwingBodyLeavesNothing
    case .returningBodyCommitsAll: AtomicityChecks.returningBodyCommitsAll
    case .transactionSeesItsOwnWrites: AtomicityChecks.transactionSeesItsOwnWrites
    case .cancelledTaskCompletesItsWrite: AtomicityChecks.cancelledTaskCompletesItsWrite
    case .readSeesOneUnchangingState: AtomicityChecks.readSeesOneUnchangingState
    case .readSeesNothingUncommitted: AtomicityChecks.readSeesNothingUncommitted
    case .leaseHasOneHolder: LeaseChecks.leaseHasOneHolder
    case .leaseThatRanOutIsTakenOver: LeaseChecks.leaseThatRanOutIsTakenOver
    case .fencesRise: LeaseChecks.fencesRise
    case .lostLeaseCannotWrite: LeaseChecks.lostLeaseCannotWrite
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
    case .rowsShowLiveAndDeletedRecords: KeptStateChecks.rowsShowLiveAndDeletedRecords
    case .changesAreObserved: ObservationChecks.changesAreObserved
    case .manyChangesAreReloaded: ObservationChecks.manyChangesAreReloaded
    case .oldPositionsAreReloaded: ObservationChecks.oldPositionsAreReloaded
    case .valuesComeBack: KeptStateChecks.valuesComeBack
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
