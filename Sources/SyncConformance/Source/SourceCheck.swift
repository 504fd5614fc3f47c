import SyncModels
import SyncPorts

/// One promise of `RemoteRecordSource`, as a check that any adapter can run.
///
/// Run every case on a world of its own, and report each alone; see ``SourceHarness``.
public enum SourceCheck: String, CaseIterable, Sendable {
  // Listings.
  case listingHoldsEveryRecordOnce, emptyRemoteListsNothing, pagesObeyTheirLimit, recordsAreReadWhole
  case samePositionIsAnsweredAlike, resumablePassGoesOnInAnotherProcess, deletedRecordIsNotListed
  case totalCountsTheListing, malformedRecordComesInItsPlace, lookupGivesCurrentCopies
  // Deltas and tokens.
  case deltaHoldsWhatChanged, deltaOfNothingIsEmpty, deletionComesAsTombstone, changesDuringAPassAreNotLost
  case changesDuringADeltaAreNotLost, lateCommitIsFound, tokenComesFromTheStart, unknownTokenIsNoError
  case voidTokenIsNoError, versionsRise, identityStays

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or could not be asked for.
  /// - Throws: ``ConformanceFailure`` with the promise that was broken, or the source's own error where none was due.
  public func run(on harness: SourceHarness) async throws -> ConformanceOutcome {
    if let reason = obstacle(in: harness) { return .skipped(reason) }
    return try await ConformanceOutcome { try await body(SourceBench(harness: harness)) }
  }

  /// Why the check cannot be run on a harness.
  private func obstacle(in harness: SourceHarness) -> String? {
    let capabilities = harness.source.capabilities
    return switch self {
    case .resumablePassGoesOnInAnotherProcess where harness.reopen == nil:
      "The harness cannot make a second source."
    case .malformedRecordComesInItsPlace where harness.putMalformed == nil:
      "The harness cannot put malformed records."
    case .voidTokenIsNoError where harness.voidTokens == nil: "The harness cannot make tokens void."
    case .lookupGivesCurrentCopies where !capabilities.supportsLookup: "The source has no lookup."
    case .deletionComesAsTombstone where !capabilities.sendsTombstones: "The source sends no tombstones."
    case .versionsRise where capabilities.versions == .latestFetched: "The source's versions may go back."
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
    case .lookupGivesCurrentCopies: ListingChecks.lookupGivesCurrentCopies
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
    case .identityStays: DeltaChecks.identityStays
    }
  }
}
