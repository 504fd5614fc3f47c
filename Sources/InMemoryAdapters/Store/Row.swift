import SyncModels

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
