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
  /// How many rows the table had before it: rows lie in the order in which their records came.
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
