import SyncModels
import SyncPorts

/// Remembers when records were written before a rebuild re-pointed their references.
///
/// In a type that refers to itself, a record whose reference is re-pointed may stand for election in a later batch. What the rebuild itself wrote must
/// not make it the last written.
struct RepointedStamps {
  private let entity: Entity
  private let clockBound: Duration
  private let isNeeded: Bool

  private struct Kept: Codable {
    /// The stamp that the rebuild's own edit has.
    var given: EditStamp
    /// When the record was last written by anybody else.
    var before: EditStamp
  }

  /// - Parameter clockBound: See ``EditOptions/clockBound``.
  init(_ entity: Entity, clockBound: Duration) {
    self.entity = entity
    self.clockBound = clockBound
    isNeeded = entity.references.contains { $0.target == entity.type }
  }

  /// When a record was last written, the rebuild's own edits aside.
  func lastWrite(
    of record: Record, pending: OutboxEntry?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> EditStamp {
    let stamp = entity.lastWrite(of: record, pending: pending, clockBound: clockBound)
    guard isNeeded, let kept = try snapshot.decoded(Kept.self, forKey: key(of: record.id)) else {
      return stamp
    }
    let stated = pending?.edit.stamp ?? entity.stamp(in: record.payload)
    return stated == kept.given ? kept.before : stamp
  }

  /// The last writes of those of some records about to be re-pointed that are in groups of duplicates of their own.
  func lastWrites(
    of records: [Record], pending: [RecordID: OutboxEntry], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID: EditStamp] {
    let keyed = records.filter { $0.id.type == entity.type }
      .compactMap { record in entity.naturalKey(of: record).map { (record: record, key: $0) } }
    guard isNeeded, !keyed.isEmpty else { return [:] }
    let groups = try transaction.records(ofType: entity.type, withNaturalKeys: keyed.map(\.key))
    var stamps: [RecordID: EditStamp] = [:]
    for ((record, _), group) in zip(keyed, groups) where group.count > 1 {
      stamps[record.id] = try lastWrite(of: record, pending: pending[record.id], in: transaction)
    }
    return stamps
  }

  /// Remembers, once the records are re-pointed, when they were last written before.
  func keep(_ stamps: [RecordID: EditStamp], in transaction: any StoreTransaction) throws(SyncError) {
    guard !stamps.isEmpty else { return }
    for entry in try transaction.outbox(for: Array(stamps.keys)) {
      guard let before = stamps[entry.id] else { continue }
      try transaction.encode(Kept(given: entry.edit.stamp, before: before), forKey: key(of: entry.id))
    }
  }

  /// Forgets the records of groups that are one record each now.
  func forget(_ elections: [Election], in transaction: any StoreTransaction) throws(SyncError) {
    guard isNeeded else { return }
    for election in elections {
      try transaction.setValue(nil, forKey: key(of: election.winner.id))
      for loser in election.losers { try transaction.setValue(nil, forKey: key(of: loser.id)) }
    }
  }

  private func key(of id: RecordID) -> String { "rebuild/\(id.type)/stamp/\(id.key)" }
}
