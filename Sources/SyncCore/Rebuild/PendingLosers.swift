import SyncModels
import SyncPorts

/// The notes about losers of a type that wait in the outbox for their deletion.
///
/// One note says that there are losers. Each group that the app has ended meanwhile has another one
/// of its own. A group ends when the app deletes its winner or gives it another natural key, and no
/// other record has the group's key. Its losers are deleted all the same, and none is shown again.
enum PendingLosers {
  /// Whether there are losers.
  static func areAny(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    try snapshot.value(forKey: key(for: type).name) != nil
  }

  /// Notes that groups have losers.
  ///
  /// Earlier groups with the same natural keys may have ended; these have begun.
  static func note(
    _ keys: @autoclosure () -> [String], of type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    if try !areAny(of: type, in: transaction) { return try transaction.set(.noted, for: key(for: type)) }
    let ended = try EndedGroups(of: type, in: transaction)
    for natural in ended.areAny ? keys() : [] where try ended.contains(natural, in: transaction) {
      try transaction.remove(EndedGroups.key(of: natural, type))
    }
  }

  /// Notes that no record with a natural key is left, if there are losers.
  static func end(
    _ natural: String, of type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard try areAny(of: type, in: transaction),
      try transaction.records(ofType: type, withNaturalKeys: [natural]).allSatisfy(\.isEmpty)
    else { return }
    try transaction.set(.noted, for: EndedGroups.key(of: natural, type))
  }

  /// Removes a portion of the notes, as there are no more losers.
  ///
  /// - Returns: Whether all are removed.
  static func forget(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) -> Bool {
    let names = try transaction.portion(keys: EndedGroups.prefix(type), after: nil)
    for name in names { try transaction.setValue(nil, forKey: name) }
    if names.count == MergeContext.portion { return false }
    try transaction.remove(key(for: type))
    return true
  }

  private static func key(for type: RecordType) -> ValueKey<Noted> { ValueKey(.rebuilds, "\(type)/losers") }
}

/// The groups that the app has ended while their losers wait.
private struct EndedGroups {
  private let type: RecordType
  let areAny: Bool

  init(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) {
    self.type = type
    areAny = try !snapshot.keys(withPrefix: Self.prefix(type), after: nil, limit: 1).isEmpty
  }

  /// Whether the group with a natural key is one of them.
  func contains(_ natural: String, in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    guard areAny else { return false }
    return try snapshot.value(of: Self.key(of: natural, type)) != nil
  }

  static func prefix(_ type: RecordType) -> String { key(of: "", type).name }
  static func key(of natural: String, _ type: RecordType) -> ValueKey<Noted> {
    ValueKey(.rebuilds, "\(type)/ended/\(natural)")
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
  private var groups: [RecordID: [Record]] = [:]

  init(of losers: [OutboxEntry], _ entity: Entity, in snapshot: any StoreSnapshot) throws(SyncError) {
    let ended = try EndedGroups(of: entity.type, in: snapshot)
    var keyed: [(id: RecordID, key: String)] = []
    for loser in losers {
      guard let record = loser.base.record?.withFields(of: entity) else { continue }
      guard let key = entity.naturalKey(of: record), try !ended.contains(key, in: snapshot) else { continue }
      keyed.append((loser.id, key))
    }
    let records = try snapshot.records(ofType: entity.type, withNaturalKeys: keyed.map(\.key))
    let deleted = try Self.deleted(among: records.joined().map(\.id), in: snapshot)
    for (loser, records) in zip(keyed, records) {
      groups[loser.id] = records.filter { !deleted.contains($0.id) }
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
  func records(of id: RecordID) -> [Record]? { groups[id] }

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
