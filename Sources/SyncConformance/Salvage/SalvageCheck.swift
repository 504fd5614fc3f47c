import SyncPorts

/// One promise of `SalvageSource`, as a check for any adapter.
///
/// Run every case with its own store; see ``SalvageHarness``.
public enum SalvageCheck: String, CaseIterable, Sendable {
  /// A promise of a source.
  case soundStoreComesWhole, emptyStoreHasNoEntries, conflictsComeByTheirAge, placesLeadToAnEnd,
    laterWalkReadsTheSame, storeStaysAsItIs, missingEntriesAreListed, damagedStoreStaysAsItIs,
    lostStoreIsAnError

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the store
  ///   or the source.
  public func run(on harness: SalvageHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome { try await body(SalvageBench(harness: harness)) }
  }

  private var body: @Sendable (SalvageBench) async throws -> Void {
    switch self {
    case .soundStoreComesWhole: SalvageChecks.soundStoreComesWhole
    case .emptyStoreHasNoEntries: SalvageChecks.emptyStoreHasNoEntries
    case .conflictsComeByTheirAge: SalvageChecks.conflictsComeByTheirAge
    case .placesLeadToAnEnd: SalvageChecks.placesLeadToAnEnd
    case .laterWalkReadsTheSame: SalvageChecks.laterWalkReadsTheSame
    case .storeStaysAsItIs: SalvageChecks.storeStaysAsItIs
    case .missingEntriesAreListed: SalvageChecks.missingEntriesAreListed
    case .damagedStoreStaysAsItIs: SalvageChecks.damagedStoreStaysAsItIs
    case .lostStoreIsAnError: SalvageChecks.lostStoreIsAnError
    }
  }
}
