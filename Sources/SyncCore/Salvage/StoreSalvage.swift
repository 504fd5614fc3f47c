public import SyncModels
public import SyncPorts

/// Takes over what can be read of a damaged store into a new one.
///
/// Local edits come first, then conflicts and kept values, which exist nowhere else, then records.
/// Records come without versions, so that any copy of the remote replaces them, and checkpoints
/// without tokens, so that the next sync lists everything and removes what the remote lacks. It
/// fetches what could not be read. Withheld changes are not taken over, because that listing
/// withholds them again; records that a clean-up hid are shown until the next one.
public struct StoreSalvage: Sendable {
  private let source: any SalvageSource
  private let store: any LocalStore
  private let limit: Int
  private let clock: any Clock<Duration>

  /// Describes a salvage.
  ///
  /// - Parameters:
  ///   - source: The damaged store. ``PortSalvage`` reads any store.
  ///   - store: A new store without registered types.
  ///   - limit: The most losses to keep in the report; all are counted.
  ///   - clock: Measures the pauses between two looks at a token.
  public init(
    from source: any SalvageSource, to store: any LocalStore, limit: Int = 1000,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.source = source
    self.store = store
    self.limit = max(1, limit)
    self.clock = clock
  }

  /// Takes over everything that can be read.
  ///
  /// After an error or a cancellation, the new store is incomplete: remove it.
  ///
  /// - Parameter token: Stops the salvage between two portions.
  /// - Throws: `invalidConfiguration` for a store that is not new; `storeUnreadable` if nothing of
  ///   the damaged store can be read; `cancelled`; or what the new store throws.
  /// - Complexity: O(*n* log *n*) in the entries.
  public func run(token: (any CancellationToken)? = nil) async throws(SyncError) -> SalvageReport {
    let isNew = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.registeredEntities().isEmpty
    }
    guard isNew else {
      throw SyncError(
        .invalidConfiguration, during: "salvaging a store",
        "The store to salvage into has record types already; it has to be a new one.")
    }
    var run = try SalvageRun(
      source: source, store: store, stop: StopSignal(token: token), clock: clock,
      report: SalvageReport(limit: limit))
    try await run.register()
    let checkpoints = try await run.checkpoints()
    var edits = SalvagedEdits(epochs: checkpoints.mapValues(\.epoch))
    try await run.takeOverEdits(&edits)
    try await run.takeOverConflicts()
    try await run.takeOverValues()
    try await run.keep(checkpoints)
    for entity in run.schema.schema.entities { try await run.takeOverRecords(of: entity) }
    return run.report
  }
}
