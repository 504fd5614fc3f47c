import SyncModels
import SyncPorts

/// The note that losers of a type wait in the outbox for their deletion.
///
/// It also lists the groups that the app has ended. A group ends when the app deletes its winner or
/// gives it another natural key. Its losers are deleted all the same, and none of them takes the
/// winner's place.
struct PendingLosers: Codable {
  /// The natural keys of the groups that the app has ended.
  private(set) var ended: [String] = []

  func hasEnded(_ key: String) -> Bool { ended.contains { $0.isSameUTF8(as: key) } }

  static func load(
    for type: RecordType, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> PendingLosers? {
    try snapshot.value(of: key(for: type))
  }

  /// Notes that there are losers.
  static func note(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try load(for: type, from: transaction) == nil {
      try transaction.set(PendingLosers(), for: key(for: type))
    }
  }

  /// Notes that the app has ended a group, if there are losers.
  static func end(
    _ natural: String, of type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard var known = try load(for: type, from: transaction), !known.hasEnded(natural) else { return }
    known.ended.append(natural)
    try transaction.set(known, for: key(for: type))
  }

  /// Removes the note, as there are no more losers.
  static func forget(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.remove(key(for: type))
  }

  private static func key(for type: RecordType) -> ValueKey<PendingLosers> {
    ValueKey(.rebuilds, "\(type)/losers")
  }
}

extension OutboxEntry {
  /// A rebuild's knowledge of a record that it deletes; `nil` for other entries.
  var loser: Rebuilt? {
    guard case .rebuild(let rebuilt) = author, edit.content == .deletion else { return nil }
    return rebuilt
  }
}

/// The groups of some losers, without records that the remote has deleted.
struct LoserGroups {
  private var groups: [RecordID: (key: String, records: [Record])] = [:]
  private let notes: PendingLosers

  init(of losers: [OutboxEntry], _ entity: Entity, in snapshot: any StoreSnapshot) throws(SyncError) {
    notes = try PendingLosers.load(for: entity.type, from: snapshot) ?? PendingLosers()
    var keyed: [(id: RecordID, key: String)] = []
    for loser in losers {
      guard var record = loser.base.record else { continue }
      record.fields = (try? entity.fields(of: record.payload)) ?? []
      if let key = entity.naturalKey(of: record) { keyed.append((loser.id, key)) }
    }
    let records = try snapshot.records(ofType: entity.type, withNaturalKeys: keyed.map(\.key))
    let deleted = try Self.deleted(among: records.joined().map(\.id), in: snapshot)
    for (loser, records) in zip(keyed, records) {
      groups[loser.id] = (loser.key, records.filter { !deleted.contains($0.id) })
    }
  }

  /// Returns those of some records that the remote has deleted.
  ///
  /// They stay live until no record refers to them, and cannot win.
  private static func deleted(
    among ids: [RecordID], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<RecordID> {
    guard let type = ids.first?.type, try snapshot.withheldCounts(type)[.held, default: 0] > 0 else {
      return []
    }
    let entries = try snapshot.withheld(for: ids.map { .record($0) })
    return Set(entries.filter { $0.kind == .held }.compactMap(\.change.id))
  }

  /// Returns the live records of a loser's group; `nil` if it ended or is unknown.
  func records(of id: RecordID) -> [Record]? {
    guard let group = groups[id], !notes.hasEnded(group.key) else { return nil }
    return group.records
  }

  /// Returns the record to which each of some losers has lost.
  func winners(of ids: [RecordID]) -> [RecordID: RecordID] {
    var winners: [RecordID: RecordID] = [:]
    for id in ids {
      // If other records have arrived since, the winner is still to be elected.
      if let records = records(of: id), records.count == 1 { winners[id] = records[0].id }
    }
    return winners
  }
}
