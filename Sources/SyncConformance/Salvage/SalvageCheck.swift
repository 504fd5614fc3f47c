public import SyncPorts

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

/// Access of the checks to a salvage source, and to the store that it reads.
///
/// One harness has one store, which is empty at first, and serves one check.
public struct SalvageHarness: Sendable {
  /// Opens the store.
  public var open: @Sendable () async throws -> any LocalStore
  /// Closes the store, before a source reads it.
  public var close: @Sendable (any LocalStore) async throws -> Void
  /// Creates a source that reads the closed store.
  public var makeSource: @Sendable () async throws -> any SalvageSource
  /// Closes a source; `nil` if it holds nothing.
  public var closeSource: (@Sendable (any SalvageSource) async -> Void)?
  /// Damages the closed store, so that entries are lost; `nil` if that is impossible.
  public var damage: (@Sendable () async throws -> Void)?
  /// Makes the closed store unreadable; `nil` if that is impossible.
  public var destroy: (@Sendable () async throws -> Void)?

  /// Creates access to a source. Checks that need a `nil` function are skipped.
  public init(
    open: @escaping @Sendable () async throws -> any LocalStore,
    close: @escaping @Sendable (any LocalStore) async throws -> Void,
    makeSource: @escaping @Sendable () async throws -> any SalvageSource,
    closeSource: (@Sendable (any SalvageSource) async -> Void)? = nil,
    damage: (@Sendable () async throws -> Void)? = nil, destroy: (@Sendable () async throws -> Void)? = nil
  ) {
    self.open = open
    self.close = close
    self.makeSource = makeSource
    self.closeSource = closeSource
    self.damage = damage
    self.destroy = destroy
  }
}
