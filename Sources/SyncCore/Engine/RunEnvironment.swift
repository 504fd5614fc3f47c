import SyncModels
import SyncPorts

/// Everything a sync works with, its own state aside.
struct RunEnvironment: Sendable {
  var schema: SyncSchema
  var store: any LocalStore
  var source: any RemoteRecordSource
  /// Where local edits go; without one they stay.
  var sink: (any RemoteRecordSink)?
  var options: SyncOptions
  var edits: EditOptions
  var clock: any Clock<Duration>
  var connectivity: (any ConnectivityMonitor)?
  var priorities: PriorityBoard
  /// What a ``SyncCoordinator`` hears of syncs that the app starts by itself.
  var attempts = ValueFeed(Attempts())
  var random: @Sendable () -> UInt64
  var emit: @Sendable (SyncEvent) -> Void

  /// What a merge has to know that takes up what was set aside, with no page of its own.
  ///
  /// - Parameter markPass: The complete listing of the type that records are noted for, as its checkpoint tells.
  ///
  /// - Parameter now: The time of a step that has read the clock already.
  func releaseContext(fence: Int64, markPass: Int64?, at now: Timestamp? = nil) -> MergeContext {
    MergeContext(
      schema: schema, edits: edits, fence: fence, now: now ?? clock.timestamp, source: source.capabilities,
      pass: Checkpoint.Pass(number: 0, base: nil, coverage: .changes), markPass: markPass, stages: false)
  }

  /// Fetches a page, or says at once that the network is away.
  func fetch(_ request: PageRequest) async -> Result<RecordPage, SyncError> {
    if let offline { return .failure(offline) }
    do throws(SyncError) {
      return .success(try await source.page(request))
    } catch {
      #if MUTANTS
        if Mutant.errorSwallowed.isActive {
          return .success(RecordPage(coverage: .changes, changes: [], next: .done(nil)))
        }
      #endif
      return .failure(error)
    }
  }

  /// Tells what a transaction met that somebody may want to look into.
  func emitFindings(_ tally: Tally) {
    for malformed in tally.malformed { emit(.quarantined(malformed)) }
    for (id, ahead) in tally.clocksAhead { emit(.clockAhead(id, by: ahead)) }
    for (id, reason) in tally.policyFlaws { emit(.policyFailed(id, reason: reason)) }
    for conflict in tally.conflicts {
      emit(.conflict(conflict, isSignificant: edits.isSignificant(conflict)))
    }
  }

  /// Tells what a transaction without a page changed, if it did.
  func emitChanges(_ tally: Tally, of type: RecordType) {
    emitFindings(tally)
    guard !tally.changed.isEmpty else { return }
    emit(
      .pageCommitted(
        SyncEvent.PageReport(
          type: type, counts: tally.counts[type, default: SyncCounts()], changed: tally.changed, fetched: 0,
          total: nil)))
  }

  /// The error of a network that is known to be away.
  var offline: SyncError? {
    guard connectivity?.connectivity == .offline else { return nil }
    return SyncError(
      .offline, during: "reaching \(source.identity)", "The network is away; local data go on being used.")
  }
}
