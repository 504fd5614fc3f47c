import SyncModels
import SyncPorts

extension Table {
  /// The live records that a query selects, in its order.
  func records(_ query: Query) -> [Record] {
    let limit = max(0, query.limit ?? .max)
    let isByKey = query.order.isEmpty
    let values = FieldValues(of: query, in: entity)
    var selected: [(record: Record, order: [FieldValue])] = []
    for row in candidates(for: query) {
      // Rows are in key order, so the first ones are correct.
      if isByKey && selected.count >= limit { break }
      guard let record = row.record else { continue }
      let value = values.reader(of: record)
      guard query.condition?.isSatisfied(by: value) ?? true else { continue }
      selected.append((record, query.order.map { $0.value(of: value($0.field)) }))
    }
    if !isByKey {
      selected.sort { a, b in
        for (index, field) in query.order.enumerated() {
          if a.order[index] < b.order[index] { return !field.isDescending }
          if b.order[index] < a.order[index] { return field.isDescending }
        }
        return a.record.id < b.record.id
      }
    }
    return selected.prefix(limit).map(\.record)
  }

  /// The number of live records that a query selects, without its limit.
  func count(_ query: Query) -> Int {
    guard query.condition != nil || query.afterKey != nil else { return liveCount }
    var all = query
    all.order = []
    all.limit = nil
    return records(all).count
  }

  /// The selected rows, by key.
  func rows(_ selection: RowSelection, after key: String?, limit: Int) -> [StoredRow] {
    var found: [StoredRow] = []
    for (_, row) in rows.entries(after: key.map(UTF8Key.init)) {
      if found.count >= limit { break }
      if selection == .unmarked, row.record == nil || isMarked(row) { continue }
      found.append(
        StoredRow(
          id: row.id, version: row.version, entityTag: row.entityTag, record: row.record,
          isMarked: isMarked(row)))
    }
    return found
  }

  /// Whether another live record refers to a key by a field.
  func refers(to id: RecordID, by field: FieldName) -> Bool {
    guard let index = index(of: field) else { return false }
    let value = FieldValue.string(id.key)
    for (entry, _) in index.entries(from: IndexEntry(value: value, key: UTF8Key(""))) {
      guard entry.value == value else { return false }
      if entity.type != id.type || entry.key != UTF8Key(id.key) { return true }
    }
    return false
  }

  /// Rows that include all selected ones, by key.
  private func candidates(for query: Query) -> any Sequence<Row> {
    guard let keys = query.condition.flatMap(keys(satisfying:)) else {
      return rows.entries(after: query.afterKey.map(UTF8Key.init)).lazy.map(\.value)
    }
    let after = query.afterKey.map(UTF8Key.init)
    return keys.filter { key in after.map { $0 < key } ?? true }.sorted().compactMap { rows[$0] }
  }

  /// An index's superset of the keys for a condition; `nil` if no index fits.
  private func keys(satisfying condition: Condition) -> [UTF8Key]? {
    switch condition {
    case .equal(let field, let value): keys(field, from: value, to: value)
    case .isIn(let field, let values): keys(field, among: values)
    case .within(_, nil, nil): nil
    case .within(let field, let lower, let upper): keys(field, from: lower?.value, to: upper?.value)
    case .all(let conditions): conditions.lazy.compactMap { keys(satisfying: $0) }.first
    case .meaning, .text, .invalid, .any, .not: nil
    }
  }

  private func keys(_ field: FieldName, from lower: FieldValue?, to upper: FieldValue?) -> [UTF8Key]? {
    guard let index = index(of: field) else { return nil }
    var keys: [UTF8Key] = []
    for (entry, _) in index.entries(from: IndexEntry(value: lower ?? .null, key: UTF8Key(""))) {
      if let upper, upper < entry.value { break }
      keys.append(entry.key)
    }
    return keys
  }

  private func keys(_ field: FieldName, among values: [FieldValue]) -> [UTF8Key]? {
    guard index(of: field) != nil else { return nil }
    var distinct: [FieldValue] = []
    for value in values.sorted() where distinct.last.map({ $0 < value }) ?? true {
      distinct.append(value)
    }
    return distinct.flatMap { keys(field, from: $0, to: $0) ?? [] }
  }
}

/// The values of a query's fields: declared ones from the record, others from the payload.
private struct FieldValues {
  let declared: [FieldName]
  let others: [FieldName]

  init(of query: Query, in entity: Entity) {
    declared = entity.fields
    let asked = (query.condition?.fields ?? []).union(query.order.map(\.field))
    others = asked.filter { !entity.fields.contains($0) }
  }

  func reader(of record: Record) -> (FieldName) -> FieldValue {
    // A payload that is not a JSON object has no fields.
    let lifted = others.isEmpty ? [] : (try? record.payload.values(of: others)) ?? []
    return { name in
      if let index = declared.firstIndex(of: name) {
        return index < record.fields.count ? record.fields[index] : .null
      }
      guard let index = others.firstIndex(of: name), index < lifted.count else { return .null }
      return lifted[index]
    }
  }
}
