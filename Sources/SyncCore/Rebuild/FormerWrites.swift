import SyncModels
import SyncPorts

/// Remembers when records of a type were last written before the remote accepted a rebuild's edit of them.
///
/// A record that carries its stamp tells it by itself, to every replica. Where none travels with the records, the remote's modification time is that of the
/// rebuild's edit, and this store remembers the one before, as long as the record is as that edit left it.
struct FormerWrites {
  private let entity: Entity
  private let maximumClockSkew: Duration
  private let areAny: Bool

  private struct Kept: Codable {
    /// When the record was last written by anything but a rebuild.
    var before: EditStamp
    /// The remote's copy as it accepted it.
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

  /// When a record was last written, the edits of rebuilds aside.
  func lastWrite(
    of record: Record, pending: OutboxEntry?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> EditStamp {
    if areAny, pending == nil, let kept = try snapshot.decoded(Kept.self, forKey: Self.key(of: record.id)),
      kept.isOf(record)
    {
      return kept.before
    }
    return entity.lastWrite(of: record, pending: pending, maximumClockSkew: maximumClockSkew)
  }

  /// Notes that the remote has a record as an edit left it.
  static func note(
    _ entry: OutboxEntry, accepted record: Record, of entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard case .rebuild(let rebuilt) = entry.author, entity.naturalKey != nil,
      entity.stamp(in: record.payload) == nil
    else { return }
    let kept = Kept(
      before: rebuilt.lastWrite, version: record.version, digest: ContentDigest.of(record.payload.bytes))
    try transaction.encode(kept, forKey: key(of: record.id))
  }

  /// What is remembered of records that are gone or were written since, a portion of it, and where the next portion begins.
  static func stale(
    _ type: RecordType, after last: String?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (keys: [String], next: String?) {
    let keys = try snapshot.portion(keys: prefix(type), after: last)
    let ids = keys.map {
      RecordID(type: type, key: String(decoding: $0.utf8.dropFirst(prefix(type).utf8.count), as: UTF8.self))
    }
    var stale: [String] = []
    for (key, record) in zip(keys, try snapshot.records(withIDs: ids)) {
      if let record, try snapshot.decoded(Kept.self, forKey: key)?.isOf(record) ?? false { continue }
      stale.append(key)
    }
    return (stale, keys.count < MergeContext.portion ? nil : keys.last)
  }

  private static func prefix(_ type: RecordType) -> String { "rebuild/\(type)/former/" }
  private static func key(of id: RecordID) -> String { prefix(id.type) + id.key }
}
