import SyncModels
import SyncPorts

/// Keeps the last writes of records from before the remote accepted a rebuild's edit.
///
/// A record that carries its stamp gives it to every replica by itself. If no stamp travels with
/// the records, the remote's modification time is that of the rebuild's edit. This store then keeps
/// the earlier stamp, as long as the record is unchanged since that edit.
struct FormerWrites {
  private let entity: Entity
  private let maximumClockSkew: Duration
  private let areAny: Bool

  /// What is kept of a record.
  struct Kept: Codable {
    /// When the record was last written by anything but a rebuild.
    var before: EditStamp
    /// The version of the copy that the remote accepted.
    var version: Version
    var digest: UInt64

    func isOf(_ record: Record) -> Bool {
      version == record.version || digest == ContentDigest.of(record.payload.bytes)
    }
  }

  /// - Parameter maximumClockSkew: See ``EditOptions/maximumClockSkew``.
  init(_ entity: Entity, maximumClockSkew: Duration, in snapshot: any StoreSnapshot) throws(SyncError) {
    self.entity = entity
    self.maximumClockSkew = maximumClockSkew
    guard entity.naturalKey != nil else {
      areAny = false
      return
    }
    areAny = try !snapshot.keys(withPrefix: Self.prefix(entity.type), after: nil, limit: 1).isEmpty
  }

  /// Returns when a record was last written, apart from the edits of rebuilds.
  func lastWrite(
    of record: Record, pending: OutboxEntry?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> EditStamp {
    if areAny, pending == nil, let kept = try snapshot.value(of: Self.key(of: record.id)),
      kept.isOf(record)
    {
      return kept.before
    }
    return entity.lastWrite(of: record, pending: pending, maximumClockSkew: maximumClockSkew)
  }

  /// Keeps the last write from before an edit that the remote has accepted.
  static func keep(
    _ entry: OutboxEntry, accepted record: Record, of entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard case .rebuild(let rebuilt) = entry.author, entity.naturalKey != nil,
      entity.stamp(in: record.payload) == nil
    else { return }
    let kept = Kept(
      before: rebuilt.lastWrite, version: record.version, digest: ContentDigest.of(record.payload.bytes))
    try transaction.set(kept, for: key(of: record.id))
  }

  /// Removes what is kept of records that are gone or were written since.
  ///
  /// - Parameter last: The name after which a portion begins.
  /// - Returns: The name after which the next portion begins; `nil` after the last.
  static func forgetStale(
    _ type: RecordType, after last: String?, in session: SyncSession
  ) async throws(SyncError) -> String? {
    let (stale, next) = try await session.read { (snapshot) throws(SyncError) in
      let names = try snapshot.portion(keys: prefix(type), after: last)
      let ids = names.map {
        RecordID(type: type, key: String(decoding: $0.utf8.dropFirst(prefix(type).utf8.count), as: UTF8.self))
      }
      var stale: [ValueKey<Kept>] = []
      for (id, record) in zip(ids, try snapshot.records(withIDs: ids)) {
        if let record, try snapshot.value(of: key(of: id))?.isOf(record) ?? false { continue }
        stale.append(key(of: id))
      }
      return (stale, names.count < MergeContext.portion ? nil : names.last)
    }
    if !stale.isEmpty {
      try await session.write { (transaction) throws(SyncError) in
        for key in stale { try transaction.remove(key) }
      }
    }
    return next
  }

  private static func prefix(_ type: RecordType) -> String { key(of: RecordID(type: type, key: "")).name }
  private static func key(of id: RecordID) -> ValueKey<Kept> {
    ValueKey(.rebuilds, "\(id.type)/former/\(id.key)")
  }
}
