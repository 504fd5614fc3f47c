public import SyncModels
public import SyncPorts
import Synchronization

/// The history of a store's syncs: the last 1,000, each in one kept value.
///
/// The latest sync is under a key of its own. A sync's first transaction moves the previous one
/// into a ring, and notes the sync as running. Its last transaction notes its end. A previous sync
/// that is still running then was killed, as only one sync has the lease.
enum SyncHistory {
  /// The number of syncs that are kept.
  static let limit = 1000
  private static let prefix = "history/"
  private static let latest = ValueKey<PastSync>(prefix + "latest")

  /// The place of an earlier sync in the ring.
  private static func place(of number: Int64) -> ValueKey<PastSync> {
    ValueKey("\(prefix)\(number.magnitude % UInt64(limit - 1))")
  }

  /// Notes that a sync has begun, and that an unfinished one before it was killed.
  ///
  /// - Parameter sync: The sync; its number is given here.
  /// - Returns: The noted sync.
  @discardableResult
  static func begin(_ sync: PastSync, in transaction: any StoreTransaction) throws(SyncError) -> PastSync {
    var sync = sync
    // A value of another format only describes past syncs, and is replaced.
    if var previous = try transaction.value(ifReadableOf: latest) {
      if previous.fence == sync.fence { return previous }
      if previous.outcome == .running { previous.outcome = .killed }
      try transaction.set(previous, for: place(of: previous.number))
      sync.number = previous.number < .max ? previous.number + 1 : 1
    }
    try transaction.set(sync, for: latest)
    return sync
  }

  /// Notes that a sync has ended.
  static func end(_ sync: PastSync, in transaction: any StoreTransaction) throws(SyncError) {
    var ended = sync
    ended.number = try begin(sync, in: transaction).number
    try transaction.set(ended, for: latest)
  }

  /// Reads the history, the latest sync first.
  static func load(limit: Int, from snapshot: any StoreSnapshot) throws(SyncError) -> [PastSync] {
    var syncs: [PastSync] = []
    var last: String?
    repeat {
      let names = try snapshot.portion(keys: prefix, after: last)
      for name in names {
        if let sync = try snapshot.value(ifReadableOf: ValueKey<PastSync>(name)) { syncs.append(sync) }
      }
      last = names.count < MergeContext.portion ? nil : names.last
    } while last != nil
    return Array(syncs.sorted { $0.number > $1.number }.prefix(max(0, limit)))
  }
}

extension PastSync {
  /// Reads a store's history, the latest sync first.
  ///
  /// - Parameter limit: The most syncs to return. A store keeps the last 1,000.
  /// - Complexity: O(*h*) in the kept syncs.
  public static func load(
    from store: any LocalStore, limit: Int = 1000
  ) async throws(SyncError) -> [PastSync] {
    try await store.read { (snapshot) throws(SyncError) in
      try SyncHistory.load(limit: limit, from: snapshot)
    }
  }

  /// Takes over the result of the sync, as far as it has come.
  mutating func note(
    _ result: SyncResult, _ meter: SyncMeter.Figures, after duration: Duration, at now: Timestamp
  ) {
    seconds = duration.inSeconds
    typeFailures = result.failures.map { TypeFailure($0.type, TypeStatus.Failure($0.error, at: now)) }
    for (type, counts) in result.entities {
      for (name, path) in SyncCounts.names where counts[keyPath: path] != 0 {
        self.counts[type, default: [:]][name] = counts[keyPath: path]
      }
    }
    for (name, path) in PushCounts.names where result.pushed[keyPath: path] != 0 {
      pushed[name] = result.pushed[keyPath: path]
    }
    (bytes, retries) = (meter.bytes, meter.retries)
    (fetchingSeconds, writingSeconds) = (meter.fetching.inSeconds, meter.writing.inSeconds)
  }
}

extension SyncEngine {
  /// Returns the last syncs of the store, of all processes, the latest first.
  ///
  /// - Parameter limit: The most syncs to return. A store keeps the last 1,000.
  public func history(limit: Int = 1000) async throws(SyncError) -> [PastSync] {
    try await PastSync.load(from: environment.store, limit: limit)
  }
}

/// Measures one sync: bytes, retries, and the time spent fetching and writing.
final class SyncMeter: Sendable {
  struct Figures: Sendable {
    var bytes = 0
    var retries = 0
    var fetching = Duration.zero
    var writing = Duration.zero
  }
  private let state = Mutex(Figures())

  var figures: Figures { state.withLock { $0 } }

  func note(_ change: (inout Figures) -> Void) { state.withLock { change(&$0) } }
}
