public import SyncModels
public import SyncPorts

/// The history of a store's syncs: the last 1,000, each in one kept value.
///
/// A sync's first transaction notes the sync as running, and its last one notes its end. Only one
/// sync has the lease, so one that is still noted as running after a later one was killed, or has
/// lost its lease and can note nothing more.
enum SyncHistory {
  /// The number of syncs that are kept.
  static let limit: Int64 = 1000
  /// The key of the number and the fencing number of the latest sync.
  private static let latest = ValueFamily.history.rawValue
  private static let prefix = latest + "/"

  /// Writes the entry of a sync.
  ///
  /// - Parameter sync: The sync. Its number is given here, once for each fencing number.
  static func note(_ sync: PastSync, in transaction: any StoreTransaction) throws(SyncError) {
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
    return (try load(limit: 1, from: snapshot).first?.number ?? 0, 0)
  }

  /// Reads the history, the latest sync first.
  static func load(limit: Int, from snapshot: any StoreSnapshot) throws(SyncError) -> [PastSync] {
    var syncs: [PastSync] = []
    var last: String?
    repeat {
      let names = try snapshot.portion(keys: prefix, after: last)
      for name in names {
        // A value of another format only describes past syncs, and is left out.
        let key = ValueKey<PastSync>(.history, String(name.dropFirst(latest.count)))
        if let sync = try snapshot.value(ifReadableOf: key) { syncs.append(sync) }
      }
      last = names.count < MergeContext.portion ? nil : names.last
    } while last != nil
    syncs.sort { $0.number > $1.number }
    for index in syncs.indices.dropFirst() where syncs[index].outcome == .running {
      syncs[index].outcome = .killed
    }
    return Array(syncs.prefix(max(0, limit)))
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
    try SyncHistory.load(limit: limit, from: snapshot)
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
