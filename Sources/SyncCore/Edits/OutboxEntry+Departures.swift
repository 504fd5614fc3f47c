import SyncModels

extension OutboxEntry {
  /// Returns the records that the base refers to and the edit does not; see ``leaves``.
  func departures(of entity: Entity) -> [RecordID] {
    guard !entity.references.isEmpty, case .copy(let record) = base else { return [] }
    let before = entity.allReferences(of: record, reading: record.payload)
    guard !before.isEmpty, let payload = edit.content.payload else { return before }
    let after = entity.allReferences(of: record, reading: payload)
    return before.filter { !after.contains($0) }
  }
}

extension Entity {
  /// Returns the records that a payload of a record refers to, except the record itself.
  fileprivate func allReferences(of record: Record, reading payload: Payload) -> [RecordID] {
    var record = record
    record.fields = (try? fields(of: payload)) ?? []
    return allReferences(of: record)
  }
}
