import SyncModels
import SyncPorts

/// One part of a sync.
///
/// A phase runs to its end, or to a stop between two of its transactions.
/// What a phase leaves undone is due again at the next sync, so it may end anywhere.
protocol SyncPhase: Sendable {
  /// Runs the phase under the session's lease.
  ///
  /// - Throws: What ends the whole sync. The phase has put the types that failed into
  ///   ``SyncSession/failing``, and committed transactions stay.
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd

  /// Finds out whether anything is due; `nil` for a phase that always runs.
  ///
  /// Successive phases are surveyed in one snapshot. Mostly nothing is due for any of them, and a
  /// snapshot for each would take longer than a small page.
  var survey: Survey? { get }
}

extension SyncPhase {
  /// Finds out whether anything is due in the store.
  typealias Survey = @Sendable (any StoreSnapshot, SyncSession) throws(SyncError) -> Bool

  var survey: Survey? { nil }
}

/// The phases that a sync has still to run.
struct PendingPhases {
  private var rest: ArraySlice<any SyncPhase>

  init(_ phases: [any SyncPhase]) {
    rest = phases[...]
  }

  /// Removes and returns the next phase for which something is due; `nil` after the last.
  mutating func next(in session: SyncSession) async -> (any SyncPhase)? {
    let surveys = rest.prefix { $0.survey != nil }.compactMap(\.survey)
    if !surveys.isEmpty {
      // A phase reads again what is due, so it throws a failure of this read itself.
      let idle = try? await session.read { (snapshot) throws(SyncError) in
        for (index, isDue) in surveys.enumerated() where try isDue(snapshot, session) { return index }
        return surveys.count
      }
      rest = rest.dropFirst(idle ?? 0)
      if idle == surveys.count { return await next(in: session) }
    }
    return rest.popFirst()
  }
}

/// How a phase ended.
enum PhaseEnd: Sendable {
  /// Everything that was due is done.
  case finished
  /// A stop was requested.
  case stopped
}
