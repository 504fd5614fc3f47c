import SyncModels
import SyncPorts

/// One promise of `RemoteRecordSink`, as a check for any adapter.
///
/// Run every case with its own test data, and report each separately; see ``SinkHarness``.
public enum SinkCheck: String, CaseIterable, Sendable {
  /// A promise about the base of a change.
  case newRecordIsCreated, newRecordMeetsAnExistingOne, editOfTheCurrentCopyIsApplied,
    editOfAnOldCopyIsAConflict, deletionOfTheCurrentCopyIsApplied, deletionOfAnOldCopyIsAConflict,
    editOfADeletedRecordIsAConflict, deletionOfAnUnseenRecordIsAConflict, deletedRecordIsCreatedAnew
  /// A promise about batches.
  case everyChangeHasItsOutcome, emptyPushHasNoOutcomes, tooMuchIsRefusedWhole, bytesUpToTheLimitAreTaken
  /// A promise about atomic groups, of sinks that apply them.
  case groupIsApplied, groupWithAConflictHasNoEffect, groupSentAgainHasOneEffect
  /// A promise about repeated changes.
  case changeSentAgainHasOneEffect, deletionSentAgainHasOneEffect, changeSentAgainLeavesALaterOneAlone,
    creationSentAgainBringsNothingBack, batchSentAgainByAnotherProcessHasOneEffect
  /// A promise about what the source reads afterwards.
  case acceptedVersionsRise, sourceReadsTheAcceptedCopy, payloadIsKeptWhole, remoteWritesOnlyWhatItDeclares,
    identityStays

  /// The checks of sinks that apply atomic groups. For other sinks they are skipped.
  public static let ofGroups: Set<SinkCheck> = [
    .groupIsApplied, .groupWithAConflictHasNoEffect, .groupSentAgainHasOneEffect,
  ]

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the sink.
  public func run(on harness: SinkHarness) async throws -> ConformanceOutcome {
    if self == .batchSentAgainByAnotherProcessHasOneEffect, harness.reopen == nil {
      return .skipped("The harness cannot make a second sink.")
    }
    if self == .creationSentAgainBringsNothingBack, !harness.remembersWhatIsGone {
      return .skipped("The remote does not remember deletions.")
    }
    return try await ConformanceOutcome { try await body(SinkBench(harness: harness)) }
  }

  private var body: @Sendable (SinkBench) async throws -> Void {
    switch self {
    case .newRecordIsCreated: BaseChecks.newRecordIsCreated
    case .newRecordMeetsAnExistingOne: BaseChecks.newRecordMeetsAnExistingOne
    case .editOfTheCurrentCopyIsApplied: BaseChecks.editOfTheCurrentCopyIsApplied
    case .editOfAnOldCopyIsAConflict: BaseChecks.editOfAnOldCopyIsAConflict
    case .deletionOfTheCurrentCopyIsApplied: BaseChecks.deletionOfTheCurrentCopyIsApplied
    case .deletionOfAnOldCopyIsAConflict: BaseChecks.deletionOfAnOldCopyIsAConflict
    case .editOfADeletedRecordIsAConflict: BaseChecks.editOfADeletedRecordIsAConflict
    case .deletionOfAnUnseenRecordIsAConflict: BaseChecks.deletionOfAnUnseenRecordIsAConflict
    case .deletedRecordIsCreatedAnew: BaseChecks.deletedRecordIsCreatedAnew
    case .everyChangeHasItsOutcome: BatchChecks.everyChangeHasItsOutcome
    case .emptyPushHasNoOutcomes: BatchChecks.emptyPushHasNoOutcomes
    case .tooMuchIsRefusedWhole: BatchChecks.tooMuchIsRefusedWhole
    case .bytesUpToTheLimitAreTaken: BatchChecks.bytesUpToTheLimitAreTaken
    case .groupIsApplied: GroupChecks.groupIsApplied
    case .groupWithAConflictHasNoEffect: GroupChecks.groupWithAConflictHasNoEffect
    case .groupSentAgainHasOneEffect: GroupChecks.groupSentAgainHasOneEffect
    case .changeSentAgainHasOneEffect: RepeatChecks.changeSentAgainHasOneEffect
    case .deletionSentAgainHasOneEffect: RepeatChecks.deletionSentAgainHasOneEffect
    case .changeSentAgainLeavesALaterOneAlone: RepeatChecks.changeSentAgainLeavesALaterOneAlone
    case .creationSentAgainBringsNothingBack: RepeatChecks.creationSentAgainBringsNothingBack
    case .batchSentAgainByAnotherProcessHasOneEffect: RepeatChecks.batchSentAgainByAnotherProcessHasOneEffect
    case .acceptedVersionsRise: ReadBackChecks.acceptedVersionsRise
    case .sourceReadsTheAcceptedCopy: ReadBackChecks.sourceReadsTheAcceptedCopy
    case .payloadIsKeptWhole: ReadBackChecks.payloadIsKeptWhole
    case .remoteWritesOnlyWhatItDeclares: ReadBackChecks.remoteWritesOnlyWhatItDeclares
    case .identityStays: ReadBackChecks.identityStays
    }
  }
}
