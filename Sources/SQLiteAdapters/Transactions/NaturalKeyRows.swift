#if SQLite
  import SyncModels
  import SyncPorts

  extension SQLiteSnapshot {
    func records(ofType type: RecordType, withNaturalKeys keys: [String]) throws(SyncError) -> [[RecordID]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      let found = try recordsByNaturalKey(in: table)
      return keys.map { found[UTF8Key($0)] ?? [] }
    }

    func duplicates(
      _ type: RecordType, after key: String?, limit: Int
    ) throws(SyncError) -> [(key: String, records: [RecordID])] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      let groups = try recordsByNaturalKey(in: table).filter { group in
        group.value.count > 1 && (key.map { $0.precedesByUTF8(group.key.string) } ?? true)
      }
      return groups.sorted { $0.key.string.precedesByUTF8($1.key.string) }.prefix(limit).map {
        ($0.key.string, $0.value)
      }
    }

    /// All natural keys with their records, taken out of the payloads one by one.
    private func recordsByNaturalKey(in table: EntityTable) throws(SyncError) -> [UTF8Key: [RecordID]] {
      guard table.entity.naturalKey != nil else { return [:] }
      let statement = try connection.statement(
        "SELECT \(table.recordColumns) FROM \(table.name) WHERE payload IS NOT NULL ORDER BY id")
      defer { statement.reset() }
      var found: [UTF8Key: [RecordID]] = [:]
      while try statement.step() {
        let record = statement.record(of: table)
        if let key = table.entity.naturalKey(of: record) {
          found[UTF8Key(key), default: []].append(record.id)
        }
      }
      return found
    }
  }

  /// A string that is the same as another when its bytes are.
  private struct UTF8Key: Hashable {
    var string: String

    init(_ string: String) { self.string = string }

    static func == (a: UTF8Key, b: UTF8Key) -> Bool { a.string.isSameUTF8(as: b.string) }
  }
#endif
