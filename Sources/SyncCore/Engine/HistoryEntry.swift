import SyncModels
import SyncPorts
import Synchronization

/// The entry of a running sync in the store's history.
///
/// The sync's transactions write the entry, so that it needs none of its own. The first one notes
/// the sync as running. The one that is probably the last notes its end. If another one follows
/// after all, it notes the sync as running again, and the end is noted anew.
final class HistoryEntry: Sendable {
  private let begun: PastSync
  private let meter: SyncMeter
  private let clock: any Clock<Duration>
  /// The time since the sync began.
  let elapsed: @Sendable () -> Duration
  /// The entry as committed; `nil` before the first transaction.
  private let noted = Mutex<PastSync?>(nil)

  /// How a sync ends.
  enum End: Sendable {
    case finished, stopped
    case failed(SyncError)
  }

  /// Creates the entry of a sync that begins.
  ///
  /// - Parameter elapsed: The time since the sync began.
  init(
    _ begun: PastSync, meter: SyncMeter, clock: any Clock<Duration>,
    elapsed: @escaping @Sendable () -> Duration
  ) {
    self.begun = begun
    self.meter = meter
    self.clock = clock
    self.elapsed = elapsed
  }

  /// Runs a transaction of the sync, with the entry.
  ///
  /// - Parameter ending: How the sync ends and its progress, if it ends with this transaction.
  func write<R: Sendable>(
    under lease: LeaseKeeper, ending: (@Sendable (R) -> (End, SyncProgress))? = nil,
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let writing = clock.stopwatch()
    defer { meter.note { $0.writing += writing() } }
    let (begun, isRunning) = (begun, noted.withLock { $0?.outcome == .running })
    if ending == nil, isRunning { return try await lease.write(body) }
    // The body may run again, so what it noted counts once it is committed.
    let (result, entry) = try await lease.write { (transaction) throws(SyncError) in
      let result = try body(transaction)
      var entry = begun
      if let (end, progress) = ending?(result) { entry = ended(end, progress, writing: writing()) }
      try SyncHistory.note(entry, in: transaction)
      return (result, entry)
    }
    noted.withLock { $0 = entry }
    return result
  }

  /// Whether the store has this end of the sync.
  func hasNoted(_ end: End, _ progress: SyncProgress) -> Bool {
    guard let noted = noted.withLock(\.self) else { return false }
    // Only the durations have grown since.
    var ended = ended(end, progress, writing: .zero)
    ended.seconds = noted.seconds
    ended.fetchingSeconds = noted.fetchingSeconds
    ended.writingSeconds = noted.writingSeconds
    return ended == noted
  }

  /// Returns the entry of the sync if it ends now.
  ///
  /// - Parameter writing: The time spent in the present transaction.
  private func ended(_ end: End, _ progress: SyncProgress, writing: Duration) -> PastSync {
    var sync = begun
    switch end {
    case .finished: sync.outcome = .finished
    case .stopped: sync.outcome = .stopped
    case .failed(let error):
      sync.outcome = .failed
      sync.failure = TypeStatus.Failure(error, at: clock.timestamp)
    }
    let figures = meter.figures
    sync.seconds = elapsed().inSeconds
    (sync.bytes, sync.retries) = (figures.bytes, figures.retries)
    (sync.fetchingSeconds, sync.writingSeconds) = (
      figures.fetching.inSeconds, (figures.writing + writing).inSeconds
    )
    sync.note(progress.result, at: clock.timestamp)
    return sync
  }
}

extension PastSync {
  /// Takes over the result of the sync, as far as it has come.
  fileprivate mutating func note(_ result: SyncResult, at now: Timestamp) {
    typeFailures = result.failures.map { TypeFailure($0.type, TypeStatus.Failure($0.error, at: now)) }
    let names = SyncCounts.names
    for (type, counts) in result.entities {
      var numbers: [String: Int] = [:]
      for (name, value) in names where value(counts) != 0 { numbers[name] = value(counts) }
      if !numbers.isEmpty { self.counts[type] = numbers }
    }
    guard result.pushed != PushCounts() else { return }
    for (name, value) in PushCounts.names where value(result.pushed) != 0 {
      pushed[name] = value(result.pushed)
    }
  }
}
