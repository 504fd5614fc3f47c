extension Condition {
  /// Whether a record satisfies the condition, by its fields and its payload.
  package func isSatisfied(by record: Record, of entity: Entity) -> Bool {
    let others = fields.filter { !entity.fields.contains($0) }
    let names = Array(others)
    let lifted = FieldLifter(names.map { StoredField(name: $0, isKey: false) }).values(in: record.payload)
    return isSatisfied { name in
      if let place = entity.fields.firstIndex(of: name) {
        return place < record.fields.count ? record.fields[place] : .null
      }
      return names.firstIndex(of: name).map { lifted[$0] } ?? .null
    }
  }
}
