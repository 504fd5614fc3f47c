import SyncModels
import SyncPorts

/// The references to some records of a type, in all declared types, ordered or not.
struct Referrers {
  let type: RecordType
  /// The winner of each loser; empty if no declared type can refer to the records.
  let winners: [RecordID: RecordID]
  /// Types and fields that may hold a reference.
  private let columns: [(entity: Entity, field: FieldName)]

  /// A record, and those of its fields that name a loser.
  struct Found {
    var record: Record
    var fields: [FieldName]
  }

  private let schema: SyncSchema

  /// - Parameter winners: The winner of each loser.
  init(
    to winners: @autoclosure () -> [RecordID: RecordID], of type: RecordType, in schema: SyncSchema
  ) {
    self.type = type
    self.schema = schema
    columns = schema.entities.flatMap { entity in
      entity.references.filter { $0.target == type }.map { (entity, $0.field) }
    }
    self.winners = columns.isEmpty ? [:] : winners()
  }

  /// Finds records that refer to a loser and are not losers themselves.
  ///
  /// - Returns: The records, and whether these are all of them.
  func find(
    limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (found: [RecordID: Found], isComplete: Bool) {
    var found: [RecordID: Found] = [:]
    for (entity, field) in columns {
      for keys in portions {
        var portions = snapshot.portions(of: Query(entity.type, where: .isIn(field, keys), limit: limit))
        while let records = try portions.next() {
          for record in records where winners[record.id] == nil {
            found[record.id, default: Found(record: record, fields: [])].fields.append(field)
          }
          if found.count >= limit { return (found, false) }
        }
      }
    }
    return (found, true)
  }

  /// Returns the number of references, without those of losers.
  func count(among losers: [Record], in snapshot: any StoreSnapshot) throws(SyncError) -> Int {
    var count = 0
    for (entity, field) in columns {
      for keys in portions { count += try snapshot.count(Query(entity.type, where: .isIn(field, keys))) }
      guard entity.type == type, let index = entity.fields.firstIndex(of: field) else { continue }
      count -= losers.count { winner(named: $0.fields.element(at: index)) != nil }
    }
    return count
  }

  /// Points fields of a record from losers to their winners.
  ///
  /// - Returns: The number of changed references.
  func point(_ draft: inout RecordDraft, _ fields: [FieldName]) -> Int {
    var count = 0
    for field in fields {
      guard let index = schema[draft.record.id.type]?.fields.firstIndex(of: field),
        let winner = winner(named: draft.record.fields.element(at: index))
      else { continue }
      draft.point(field, to: winner)
      count += 1
    }
    return count
  }

  /// Returns the fields of a type that may name a loser.
  func fields(of type: RecordType) -> [FieldName] {
    columns.filter { $0.entity.type == type }.map(\.field)
  }

  /// Returns the winner to name instead, if a field names a loser.
  func winner(named value: FieldValue?) -> RecordID? {
    guard case .string(let key)? = value else { return nil }
    return winners[RecordID(type: type, key: key)]
  }

  private var portions: [[FieldValue]] {
    // Sorted, so that the records found before a limit are the same each time.
    let keys = winners.keys.sorted().map { FieldValue.string($0.key) }
    return stride(from: 0, to: keys.count, by: MergeContext.portion).map { start in
      Array(keys[start..<min(start + MergeContext.portion, keys.count)])
    }
  }
}
