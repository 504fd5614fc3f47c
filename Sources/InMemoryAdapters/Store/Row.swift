import SyncModels

/// What the store knows of one record. An object, so that moving rows about moves pointers.
final class Row: Sendable {
  let id: RecordID
  /// The live copy; `nil` once the record is deleted.
  let record: Record?
  let version: Version
  let entityTag: String?
  /// The round of marking that marked the row.
  let round: Int

  init(id: RecordID, record: Record?, version: Version, entityTag: String?, round: Int) {
    self.id = id
    self.record = record
    self.version = version
    self.entityTag = entityTag
    self.round = round
  }
}
