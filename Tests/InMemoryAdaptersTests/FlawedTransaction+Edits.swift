import SyncModels
import SyncPorts

extension FlawedTransaction {
  // MARK: Local edits

  func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] {
    guard flaw == .findsEditsByCharacters else { return try base.outbox(for: ids).map(flawed) }
    var found: [OutboxEntry] = []
    for id in ids {
      found += try base.outbox(id.type, after: nil, limit: 99).filter { $0.id.key == id.key }
    }
    return found
  }

  func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry] {
    let entries = try base.outbox(type, after: after, limit: limit).map(flawed)
    return flaw == .sendsEditsByRecord ? entries.sorted { $0.id < $1.id } : entries
  }

  private func flawed(_ entry: OutboxEntry) -> OutboxEntry {
    var entry = entry
    if flaw == .losesWhatWasSent, entry.sent != entry.edit { entry.sent = nil }
    if flaw == .forgetsAuthors { entry.author = .app }
    if flaw == .losesBases, case .deleted = entry.base { entry.base = .none }
    return entry
  }

  func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]] {
    let found = try base.outbox(leaving: ids, limit: flaw == .findsOneThatLeaves ? min(1, limit) : limit)
    guard flaw == .sortsLeavingEditsByCharacters else { return found }
    return found.map { $0.sorted { $0.id.key < $1.id.key } }
  }

  // MARK: Conflicts

  func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict] {
    let type = flaw == .mixesConflictsOfTypes ? nil : type
    let found = try base.conflicts(type, before: before, limit: limit)
    return flaw == .listsOldConflictsFirst ? found.reversed() : found
  }

  // MARK: Natural keys

  func records(
    ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
  ) throws(SyncError) -> [[Record]] {
    let found = try base.records(ofType: type, withNaturalKeys: keys, at: places)
    switch flaw {
    case .findsOneRecordForEachKey: return found.map { Array($0.prefix(1)) }
    case .comparesKeysAsTheyAreSpelled:
      let entity = try base.registeredEntities().first { $0.type == type }
      guard let field = entity?.naturalKey?.fields.first else { return found }
      var spellings: Set<FieldValue> = []
      for record in try base.records(Query(type)) {
        guard let value = try? record.payload.values(of: [field]).first else { continue }
        spellings.insert(value)
      }
      return spellings.count > 1 ? found.map { Array($0.prefix(1)) } : found
    case .keepsGroupsTogether where !places.isEmpty:
      for (key, records) in zip(keys, found) where readGroups[key] == nil { readGroups[key] = records }
      return keys.map { readGroups[$0] ?? [] }
    default: return found
    }
  }

  func duplicates(
    _ type: RecordType, after key: String?, limit: Int
  ) throws(SyncError) -> [DuplicateGroup] {
    var found = try base.duplicates(type, after: key, limit: limit)
    if flaw == .missesTheLastDuplicate, found.count < limit, !found.isEmpty { found.removeLast() }
    if flaw == .countsPlacesByPortion {
      found = found.enumerated().compactMap { place, group in
        DuplicateGroup(key: group.key, places: group.places.indices.map { Int64(1000 * $0 + place) })
      }
    }
    if flaw == .matchesNothingWithNothing {
      let entity = try base.registeredEntities().first { $0.type == type }
      let keyless = try base.records(Query(type)).count { entity?.naturalKey(of: $0) == nil }
      if keyless > 1, let group = DuplicateGroup(key: "", places: (0..<keyless).map { Int64($0) }) {
        found.insert(group, at: 0)
      }
    }
    return found
  }
}
