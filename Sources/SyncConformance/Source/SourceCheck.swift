import SyncModels
import SyncPorts

/// One promise of `RemoteRecordSource`, as a check for any adapter.
///
/// Run every case with its own test data, and report each separately; see ``SourceHarness``.
public enum SourceCheck: String, CaseIterable, Sendable {
  /// A promise about listings.
  case listingHoldsEveryRecordOnce, emptyRemoteListsNothing, pagesObeyTheirLimit, recordsAreReadWhole,
    samePositionIsAnsweredAlike, resumablePassGoesOnInAnotherProcess, deletedRecordIsNotListed,
    totalCountsTheListing, malformedRecordComesInItsPlace, malformedRecordsMayFillAPage,
    keysAreListedWithTheirVersions
  /// A promise about lookups.
  case lookupGivesCurrentCopies, lookupOfManyFindsEach, lookupTakesAnyKey
  /// A promise about deltas and tokens.
  case deltaHoldsWhatChanged, deltaOfNothingIsEmpty, deletionComesAsTombstone, changesDuringAPassAreNotLost,
    changesDuringADeltaAreNotLost, lateCommitIsFound, tokenComesFromTheStart, unknownTokenIsNoError,
    voidTokenIsNoError, versionsRise, deletionsHaveRisingVersions, identityStays

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the
  ///   source.
  public func run(on harness: SourceHarness) async throws -> ConformanceOutcome {
    if let reason = obstacle(in: harness) { return .skipped(reason) }
    return try await ConformanceOutcome { try await body(SourceBench(harness: harness)) }
  }

  /// The reason why the check does not apply to a harness.
  private func obstacle(in harness: SourceHarness) -> String? {
    let capabilities = harness.capabilities
    return switch self {
    case .resumablePassGoesOnInAnotherProcess where harness.reopen == nil:
      "The harness cannot make a second source."
    case .malformedRecordComesInItsPlace where harness.putMalformed == nil,
      .malformedRecordsMayFillAPage where harness.putMalformed == nil:
      "The harness cannot put malformed records."
    case .voidTokenIsNoError where harness.voidTokens == nil: "The harness cannot make tokens void."
    case .lookupGivesCurrentCopies where !capabilities.supportsLookup,
      .lookupOfManyFindsEach where !capabilities.supportsLookup,
      .lookupTakesAnyKey where !capabilities.supportsLookup:
      "The source has no lookup."
    case .deletionComesAsTombstone where !capabilities.sendsTombstones,
      .deletionsHaveRisingVersions where !capabilities.sendsTombstones:
      "The source sends no tombstones."
    case .versionsRise where capabilities.versions == .latestFetched: "The source's versions may go back."
    case .deletionsHaveRisingVersions where capabilities.versions != .perChange:
      "The source's versions do not order the changes of a record."
    default: nil
    }
  }

  private var body: @Sendable (SourceBench) async throws -> Void {
    switch self {
    case .listingHoldsEveryRecordOnce: ListingChecks.listingHoldsEveryRecordOnce
    case .emptyRemoteListsNothing: ListingChecks.emptyRemoteListsNothing
    case .pagesObeyTheirLimit: ListingChecks.pagesObeyTheirLimit
    case .recordsAreReadWhole: ListingChecks.recordsAreReadWhole
    case .samePositionIsAnsweredAlike: ListingChecks.samePositionIsAnsweredAlike
    case .resumablePassGoesOnInAnotherProcess: ListingChecks.resumablePassGoesOnInAnotherProcess
    case .deletedRecordIsNotListed: ListingChecks.deletedRecordIsNotListed
    case .totalCountsTheListing: ListingChecks.totalCountsTheListing
    case .malformedRecordComesInItsPlace: ListingChecks.malformedRecordComesInItsPlace
    case .malformedRecordsMayFillAPage: ListingChecks.malformedRecordsMayFillAPage
    case .keysAreListedWithTheirVersions: ListingChecks.keysAreListedWithTheirVersions
    case .lookupGivesCurrentCopies: ListingChecks.lookupGivesCurrentCopies
    case .lookupOfManyFindsEach: ListingChecks.lookupOfManyFindsEach
    case .lookupTakesAnyKey: ListingChecks.lookupTakesAnyKey
    case .deltaHoldsWhatChanged: DeltaChecks.deltaHoldsWhatChanged
    case .deltaOfNothingIsEmpty: DeltaChecks.deltaOfNothingIsEmpty
    case .deletionComesAsTombstone: DeltaChecks.deletionComesAsTombstone
    case .changesDuringAPassAreNotLost: DeltaChecks.changesDuringAPassAreNotLost
    case .changesDuringADeltaAreNotLost: DeltaChecks.changesDuringADeltaAreNotLost
    case .lateCommitIsFound: DeltaChecks.lateCommitIsFound
    case .tokenComesFromTheStart: DeltaChecks.tokenComesFromTheStart
    case .unknownTokenIsNoError: DeltaChecks.unknownTokenIsNoError
    case .voidTokenIsNoError: DeltaChecks.voidTokenIsNoError
    case .versionsRise: DeltaChecks.versionsRise
    case .deletionsHaveRisingVersions: DeltaChecks.deletionsHaveRisingVersions
    case .identityStays: DeltaChecks.identityStays
    }
  }
}
