import SyncModels
import SyncPorts

extension StoreTransaction {
  /// Returns those of some ids that another live record refers to, by a schema.
  ///
  /// Only ordered references count, and not those of a record to itself. A store counts references
  /// by the declarations that were registered last. References of a type that the schema does not
  /// declare do not count. References that another version of the app has registered differently
  /// are looked up one by one.
  func referenced(
    among ids: [RecordID], by schema: SyncSchema
  ) throws(SyncError) -> Set<RecordID> {
    let registered = try registeredEntities()
    var referenced: Set<RecordID> = []
    for type in Set(ids.map(\.type)).sorted() {
      let own = ids.filter { $0.type == type }
      let declared = Set(schema.referrers(to: type).map { Referrer(type: $0.type, field: $0.field) })
      let counted = Set(registered.flatMap { $0.referrers(to: type) })
      if declared == counted {
        referenced.formUnion(try self.referenced(among: own))
        continue
      }
      let candidates = declared.isSubset(of: counted) ? try self.referenced(among: own) : Set(own)
      for id in candidates {
        for referrer in declared where try refers(referrer, to: id) { referenced.insert(id) }
      }
    }
    return referenced
  }

  private func refers(_ referrer: Referrer, to id: RecordID) throws(SyncError) -> Bool {
    // One of two records is not the record itself.
    let query = Query(referrer.type, where: .equal(referrer.field, .string(id.key)), limit: 2)
    return try records(query).contains { $0.id != id }
  }
}

/// A field of a type that refers to another type.
private struct Referrer: Hashable {
  var type: RecordType
  var field: FieldName
}

extension Entity {
  fileprivate func referrers(to target: RecordType) -> [Referrer] {
    references.filter { $0.isOrdered && $0.target == target }.map { Referrer(type: type, field: $0.field) }
  }
}
