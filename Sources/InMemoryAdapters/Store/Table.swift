import SyncModels

/// The rows of one type, sorted by key, with an index for each declared field.
struct Table: Sendable {
  private(set) var entity: Entity
  private(set) var rows = OrderedMap<UTF8Key, Row>()
  private(set) var liveCount = 0
  private(set) var markedCount = 0
  private(set) var naturalKeys = NaturalKeyIndex()
  private var indexes: [OrderedMap<IndexEntry, Void>]
  // Another round clears all marks without touching a row.
  private var round = 1
  // Since then, an app of the former version may write records with the fields of its declaration.
  private var wasRedeclared = false

  /// One row's position in the index of a field.
  struct IndexEntry: Comparable, Sendable {
    var value: FieldValue
    var key: UTF8Key

    static func < (a: IndexEntry, b: IndexEntry) -> Bool {
      if a.value < b.value { return true }
      return !(b.value < a.value) && a.key < b.key
    }

    static func == (a: IndexEntry, b: IndexEntry) -> Bool {
      !(a < b) && !(b < a)
    }
  }

  init(_ entity: Entity) {
    self.entity = entity
    indexes = entity.fields.map { _ in OrderedMap() }
  }

  subscript(key: String) -> Row? {
    rows[UTF8Key(key)]
  }

  /// Replaces the declaration, and reads the newly declared fields of all rows.
  mutating func redeclare(as entity: Entity) {
    let isStoredAlike = entity.fields == self.entity.fields && entity.naturalKey == self.entity.naturalKey
    self.entity = entity
    guard !isStoredAlike else { return }
    wasRedeclared = true
    let old = rows
    (rows, naturalKeys, liveCount, markedCount) = (OrderedMap(), NaturalKeyIndex(), 0, 0)
    indexes = entity.fields.map { _ in OrderedMap() }
    for (_, row) in old {
      guard var record = row.record else {
        replace(row)
        continue
      }
      record.fields = fields(of: record.payload)
      replace(
        Row(
          id: row.id, record: record, version: row.version, entityTag: row.entityTag, round: row.round,
          place: row.place))
    }
  }

  /// The declared fields of a payload; nulls for bytes that are not a JSON object.
  ///
  /// The port accepts such bytes.
  private func fields(of payload: Payload) -> [FieldValue] {
    (try? entity.fields(of: payload)) ?? entity.fields.map { _ in .null }
  }

  mutating func put(_ copy: Record) {
    var record = copy
    record.payload = copy.payload.detached()
    if wasRedeclared { record.fields = fields(of: record.payload) }
    let row = self[copy.id.key]
    replace(
      Row(
        id: copy.id, record: record, version: copy.version, entityTag: copy.entityTag,
        round: row?.round ?? 0, place: row?.place ?? rows.count))
  }

  mutating func updateVersion(_ copy: Record) {
    guard let row = self[copy.id.key], var record = row.record else { return }
    record.version = copy.version
    record.entityTag = copy.entityTag
    replace(
      Row(
        id: row.id, record: record, version: copy.version, entityTag: copy.entityTag, round: row.round,
        place: row.place))
  }

  mutating func delete(_ tombstone: Tombstone) {
    let row = self[tombstone.id.key]
    replace(
      Row(
        id: tombstone.id, record: nil, version: tombstone.version, entityTag: tombstone.entityTag,
        round: row?.round ?? 0, place: row?.place ?? rows.count))
  }

  mutating func mark(_ key: String) {
    guard let row = self[key], row.round != round else { return }
    replace(
      Row(
        id: row.id, record: row.record, version: row.version, entityTag: row.entityTag, round: round,
        place: row.place))
  }

  mutating func clearMarks() {
    round += 1
    markedCount = 0
  }

  /// The natural keys of two or more records, in order.
  func duplicates(after naturalKey: String?, limit: Int) -> [DuplicateGroup] {
    naturalKeys.duplicates(after: naturalKey, limit: limit).compactMap { key in
      let places = naturalKeys.ids(with: key).compactMap { self[$0.key].map { Int64($0.place) } }
      return DuplicateGroup(key: key, places: places)
    }
  }

  func isMarked(_ row: Row) -> Bool {
    row.round == round
  }

  /// The index of a declared field.
  func index(of field: FieldName) -> OrderedMap<IndexEntry, Void>? {
    entity.fields.firstIndex(of: field).map { indexes[$0] }
  }

  private mutating func replace(_ row: Row) {
    let key = UTF8Key(row.id.key)
    let old = rows[key]
    for index in indexes.indices {
      let was = old?.record.map { value(at: index, of: $0) }
      let becomes = row.record.map { value(at: index, of: $0) }
      if let was, let becomes, !(was < becomes), !(becomes < was) { continue }
      if let was { indexes[index][IndexEntry(value: was, key: key)] = nil }
      if let becomes { indexes[index][IndexEntry(value: becomes, key: key)] = () }
    }
    // The natural key depends on the record's fields alone.
    if entity.naturalKey != nil, old?.record?.fields != row.record?.fields {
      naturalKeys.move(
        row.id, from: old?.record.flatMap(entity.naturalKey), to: row.record.flatMap(entity.naturalKey))
    }
    for (row, sign) in [(old, -1), (row, 1)] {
      guard let row, row.record != nil else { continue }
      liveCount += sign
      if isMarked(row) { markedCount += sign }
    }
    rows[key] = row
  }

  private func value(at index: Int, of record: Record) -> FieldValue {
    index < record.fields.count ? record.fields[index] : .null
  }
}

/// The stored state of one record. A class, so that moving rows moves pointers.
final class Row: Sendable {
  let id: RecordID
  /// The live copy; `nil` for a deleted record.
  let record: Record?
  let version: Version
  let entityTag: String?
  /// The round of marking that marked the row.
  let round: Int
  /// The number of earlier rows in the table: rows are in the order of their insertion.
  let place: Int

  init(id: RecordID, record: Record?, version: Version, entityTag: String?, round: Int, place: Int) {
    self.id = id
    self.record = record
    self.version = version
    self.entityTag = entityTag
    self.round = round
    self.place = place
  }
}
