import SyncModels

/// The live records of one type by natural key, if they have one.
struct NaturalKeyIndex: Sendable {
  private var entries = OrderedMap<Entry, RecordID>()

  private struct Entry: Comparable, Sendable {
    var naturalKey: UTF8Key
    /// `nil` comes before every key.
    var key: UTF8Key?

    static func < (a: Entry, b: Entry) -> Bool {
      if a.naturalKey != b.naturalKey { return a.naturalKey < b.naturalKey }
      guard let key = b.key else { return false }
      return a.key.map { $0 < key } ?? true
    }
  }

  /// Moves a record to another natural key.
  mutating func move(_ id: RecordID, from old: String?, to new: String?) {
    let key = UTF8Key(id.key)
    if let old { entries[Entry(naturalKey: UTF8Key(old), key: key)] = nil }
    if let new { entries[Entry(naturalKey: UTF8Key(new), key: key)] = id }
  }

  /// The records with one natural key, by key.
  func ids(with naturalKey: String) -> [RecordID] {
    let wanted = UTF8Key(naturalKey)
    let found = entries.entries(from: Entry(naturalKey: wanted, key: nil))
    return found.prefix { $0.key.naturalKey == wanted }.map(\.value)
  }

  /// The natural keys that two or more records have, in order.
  func duplicates(after naturalKey: String?, limit: Int) -> [String] {
    guard limit > 0 else { return [] }
    let after = naturalKey.map(UTF8Key.init)
    var keys: [String] = []
    var group: (key: UTF8Key, count: Int)?
    for (entry, _) in entries.entries(from: Entry(naturalKey: after ?? UTF8Key(""), key: nil)) {
      if entry.naturalKey == after { continue }
      if group?.key == entry.naturalKey {
        group?.count += 1
        continue
      }
      if let group, group.count > 1 { keys.append(group.key.string) }
      if keys.count == limit { return keys }
      group = (entry.naturalKey, 1)
    }
    if let group, group.count > 1 { keys.append(group.key.string) }
    return keys
  }
}
