public import SyncModels
public import SyncPorts
import Synchronization

/// The history of a store's syncs: the last 1,000, each in one kept value.
///
/// A sync's first transaction notes the sync as running, and its last one notes its end. Only one
/// sync has the lease, so one that is still noted as running after a later one was killed, or has
/// lost its lease and can note nothing more.
enum SyncHistory {
  /// The number of syncs that are kept.
  static let limit: Int64 = 1000
  /// The key of the number and the fencing number of the latest sync.
  fileprivate static let latest = ValueFamily.history.rawValue
  fileprivate static let prefix = latest + "/"

  /// Writes the entry of a sync.
  ///
  /// - Parameter sync: The sync. Its number is given here, once for each fencing number.
  static func persist(_ sync: PastSync, in transaction: any StoreTransaction) throws(SyncError) {
    var sync = sync
    let latest = try latest(in: transaction)
    if latest.fence == sync.fence {
      sync.number = latest.number
    } else {
      sync.number = latest.number < .max ? latest.number + 1 : 1
      try transaction.setValue(Array("[\(sync.number),\(sync.fence)]".utf8), forKey: Self.latest)
    }
    try transaction.setValue(sync.json, forKey: "\(prefix)\(sync.number % limit)")
  }

  /// Whether the sync before one with a fencing number did not come to its end.
  static func wasCutShort(before fence: Int64, in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    let latest = try latest(in: snapshot)
    let number = latest.fence == fence ? latest.number - 1 : latest.number
    guard number > 0 else { return false }
    let key = ValueKey<PastSync>(.history, "/\(number % limit)")
    // A value of another format tells nothing.
    return try snapshot.value(ifReadableOf: key).map { $0.outcome != .finished } ?? true
  }

  /// Reads the numbers of the latest sync; zeros before the first.
  private static func latest(
    in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (number: Int64, fence: Int64) {
    // Spelled out: a first use of the generic decoder costs more than all of this.
    var numbers: (earlier: Int64, last: Int64) = (0, 0)
    for byte in try snapshot.value(forKey: latest) ?? [] {
      if byte == UInt8(ascii: ",") {
        numbers = (numbers.last, 0)
      } else if let digit = Int64(exactly: byte).map({ $0 - 48 }), 0...9 ~= digit {
        numbers.last = numbers.last &* 10 &+ digit
      }
    }
    if numbers.earlier > 0, numbers.last > 0 { return (numbers.earlier, numbers.last) }
    // Numbers of another format are replaced.
    return (try PastSync.load(limit: 1, in: snapshot).first?.number ?? 0, 0)
  }
}

extension PastSync {
  /// Reads a store's history, the latest sync first.
  ///
  /// - Parameters:
  ///   - store: The store with the history.
  ///   - limit: The most syncs to return. A store keeps the last 1,000.
  /// - Throws: The store's codes.
  /// - Complexity: O(*h*) in the kept syncs, whatever the limit.
  public static func load(
    from store: any LocalStore, limit: Int = 1000
  ) async throws(SyncError) -> [PastSync] {
    try await store.read { (snapshot) throws(SyncError) in
      try load(limit: limit, in: snapshot)
    }
  }

  /// Reads a store's history in a snapshot, the latest sync first.
  package static func load(limit: Int, in snapshot: any StoreSnapshot) throws(SyncError) -> [PastSync] {
    var syncs: [PastSync] = []
    var portions = snapshot.portions(keys: SyncHistory.prefix)
    while let names = try portions.next() {
      for name in names {
        // A value of another format only describes past syncs, and is left out.
        let key = ValueKey<PastSync>(.history, String(name.dropFirst(SyncHistory.latest.count)))
        if let sync = try snapshot.value(ifReadableOf: key) { syncs.append(sync) }
      }
    }
    syncs.sort { $0.number > $1.number }
    for index in syncs.indices.dropFirst() where syncs[index].outcome == .running {
      syncs[index].outcome = .killed
    }
    return Array(syncs.prefix(max(0, limit)))
  }
}

extension SyncEngine {
  /// Returns the last syncs of the store, of all processes, the latest first.
  ///
  /// - Parameter limit: The most syncs to return. A store keeps the last 1,000.
  /// - Throws: The store's codes.
  /// - Complexity: O(*h*) in the kept syncs, whatever the limit.
  public func history(limit: Int = 1000) async throws(SyncError) -> [PastSync] {
    try await PastSync.load(from: environment.store, limit: limit)
  }
}

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
  private let persisted = Mutex<PastSync?>(nil)

  /// How a sync ends.
  enum End: Sendable {
    case finished, stopped
    case failed(SyncError)
  }

  /// When the sync began.
  var began: Timestamp { begun.began }

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
  /// - Parameters:
  ///   - asDecider: Whether the transaction depends on the declarations of the sync.
  ///   - ending: How the sync ends and its progress, if it ends with this transaction.
  func write<R: Sendable>(
    under lease: LeaseKeeper, asDecider: Bool = true, ending: (@Sendable (R) -> (End, SyncProgress))? = nil,
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let writing = clock.stopwatch()
    defer { meter.update { $0.writing += writing() } }
    let (begun, isRunning) = (begun, persisted.withLock { $0?.outcome == .running })
    if ending == nil, isRunning { return try await lease.write(asDecider: asDecider, body) }
    // The body may run again, so what it noted counts once it is committed.
    let (result, entry) = try await lease.write(asDecider: asDecider) { (transaction) throws(SyncError) in
      let result = try body(transaction)
      var entry = begun
      if let (end, progress) = ending?(result) { entry = ended(end, progress, writing: writing()) }
      try SyncHistory.persist(entry, in: transaction)
      return (result, entry)
    }
    persisted.withLock { $0 = entry }
    return result
  }

  /// Whether the store has this end of the sync.
  func hasPersisted(_ end: End, _ progress: SyncProgress) -> Bool {
    guard let persisted = persisted.withLock(\.self) else { return false }
    // Only the durations have grown since.
    var ended = ended(end, progress, writing: .zero)
    ended.seconds = persisted.seconds
    ended.fetchingSeconds = persisted.fetchingSeconds
    ended.writingSeconds = persisted.writingSeconds
    return ended == persisted
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
      sync.failure = PassOutcomes.Failure(error, at: clock.timestamp)
    }
    let figures = meter.figures
    sync.seconds = elapsed().inSeconds
    (sync.bytes, sync.retries) = (figures.bytes, figures.retries)
    (sync.fetchingSeconds, sync.writingSeconds) = (
      figures.fetching.inSeconds, (figures.writing + writing).inSeconds
    )
    sync.take(progress.result, at: clock.timestamp)
    return sync
  }
}

extension PastSync {
  /// Takes over the result of the sync, as far as it has come.
  fileprivate mutating func take(_ result: SyncResult, at now: Timestamp) {
    typeFailures = result.failures.map { TypeFailure($0.type, PassOutcomes.Failure($0.error, at: now)) }
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

/// Measures one sync: bytes, retries, the time spent fetching and writing, and what a failed sync
/// committed.
final class SyncMeter: Sendable {
  struct Figures: Sendable {
    var bytes = 0
    var retries = 0
    var fetching = Duration.zero
    var writing = Duration.zero
    /// The result of a sync that failed after it began; empty for any other.
    var result = SyncResult()
  }
  private let state = Mutex(Figures())

  var figures: Figures { state.withLock { $0 } }

  func update(_ change: (inout Figures) -> Void) { state.withLock { change(&$0) } }
}
