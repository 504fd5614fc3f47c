import SyncModels
import SyncPorts

/// The references to the losers of some groups, in all declared types, ordered or not.
struct Referrers {
  let type: RecordType
  /// The winner of each loser; empty if no declared type can refer to the records.
  let winners: [RecordID: RecordID]
  /// Types and fields that may hold a reference.
  private let columns: [(entity: Entity, field: FieldName)]
  private let withheld: Withheld
  private let schema: SyncSchema

  /// A record, and those of its fields that name a loser.
  struct Found {
    var record: Record
    var fields: [FieldName]
  }

  /// - Parameter winners: The winner of each loser.
  init(
    to winners: @autoclosure () -> [RecordID: RecordID], of type: RecordType, in schema: SyncSchema
  ) {
    self.type = type
    self.schema = schema
    withheld = Withheld(to: type, in: schema)
    columns = schema.entities.flatMap { entity in
      entity.references.filter { $0.target == type }.map { (entity, $0.field) }
    }
    self.winners = columns.isEmpty ? [:] : winners()
  }

  // MARK: Live records

  /// Finds records that refer to a loser and are not losers themselves.
  ///
  /// - Returns: The records, and whether these are all of them.
  func find(
    limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (found: [RecordID: Found], isComplete: Bool) {
    var found: [RecordID: Found] = [:]
    for (entity, field) in columns {
      for ids in portions {
        let keys = ids.map { FieldValue.string($0.key) }
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

  /// Points fields of a record from losers to their winners.
  ///
  /// - Parameter form: The form of the one winner's key in JSON, if it is known.
  /// - Returns: The number of changed references.
  func point(_ draft: inout RecordDraft, _ fields: [FieldName], form: ArraySlice<UInt8>? = nil) -> Int {
    var count = 0
    for field in fields {
      guard let index = schema[draft.record.id.type]?.fields.firstIndex(of: field),
        case .string(let key)? = draft.record.fields.element(at: index),
        let winner = winners[RecordID(type: type, key: key)]
      else { continue }
      draft.point(field, to: winner, form: form)
      count += 1
    }
    return count
  }

  // MARK: Withheld copies

  /// Shows hidden records that refer to losers, so that they can be edited.
  ///
  /// A hidden record is shown only if the records that it refers to are live.
  ///
  /// - Returns: The records that are live now.
  func reveal(limit: Int, in transaction: any StoreTransaction) throws(SyncError) -> [RecordID] {
    guard !winners.isEmpty, try withheld.areAny([.hidden], in: transaction) else { return [] }
    var shown: [RecordID] = []
    for ids in portions {
      var portions = transaction.portions(withheldReferringTo: ids, [.hidden])
      while let entries = try portions.next() {
        shown += try HiddenRecords(schema: schema, transaction: transaction)
          .reveal(entries.compactMap(\.change.id)).map(\.id)
        if shown.count >= limit { return shown }
      }
    }
    return shown
  }

  /// Merges the parked copies that wait for losers alone.
  func release(by merge: inout PageMerge, in transaction: any StoreTransaction) throws(SyncError) {
    guard try withheld.areAny([.parked], in: transaction) else { return }
    let losers = winners.keys.sorted()
    var last: WithheldChange.Key?
    repeat {
      let entries = try transaction.portion(related: .referringTo, losers, [.parked], after: last)
      last = entries.count < MergeContext.portion ? nil : entries.last?.key
      var due: [WithheldChange] = []
      for entry in entries {
        guard case .upsert(let copy) = entry.change, winners[copy.id] == nil,
          let entity = schema[copy.id.type]
        else { continue }
        let targets = entity.requiredReferences(of: copy.withFields(of: entity))
        if try transaction.absent(among: targets).allSatisfy({ winners[$0] != nil }) { due.append(entry) }
      }
      if !due.isEmpty { try merge.release(due, in: transaction) }
    } while last != nil
  }

  private var portions: [[RecordID]] {
    // Sorted, so that the records found before a limit are the same each time.
    let ids = winners.keys.sorted()
    return stride(from: 0, to: ids.count, by: MergeContext.portion).map { start in
      Array(ids[start..<min(start + MergeContext.portion, ids.count)])
    }
  }

  /// The withheld copies that refer to records of a type, ordered or not.
  ///
  /// Readers do not see them, but the remote has them.
  struct Withheld {
    private let types: [RecordType]

    init(to type: RecordType, in schema: SyncSchema) {
      types = schema.entities.filter { $0.references.contains { $0.target == type } }.map(\.type)
    }

    /// Returns those of some records that such a copy refers to.
    func targets(
      among ids: @autoclosure () -> [RecordID], kinds: Set<WithheldChange.Kind>,
      in snapshot: any StoreSnapshot
    ) throws(SyncError) -> Set<RecordID> {
      guard try areAny(kinds, in: snapshot) else { return [] }
      var found: Set<RecordID> = []
      for id in ids()
      where try !snapshot.withheld(.referringTo, [id], kinds: kinds, after: nil, limit: 1).isEmpty {
        found.insert(id)
      }
      return found
    }

    /// Whether anything of some kinds is withheld in types that can refer to the records.
    func areAny(
      _ kinds: Set<WithheldChange.Kind>, in snapshot: any StoreSnapshot
    ) throws(SyncError) -> Bool {
      for type in types
      where try snapshot.withheldCounts(type).contains(where: { kinds.contains($0.key) && $0.value > 0 }) {
        return true
      }
      return false
    }
  }
}
