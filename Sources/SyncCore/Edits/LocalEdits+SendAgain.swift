public import SyncModels
import SyncPorts

extension LocalEdits {
  /// Sends those records of a type again that the remote has lost.
  ///
  /// They are the ones that the last complete listing lacked, while ``SyncResult/refusedSweeps`` names
  /// the type: as after a user has deleted a CloudKit zone, and the app has made it again. Each becomes
  /// an edit of now, which the next push makes anew at the remote. No sweep removes it meanwhile.
  ///
  /// - Returns: The number of records; 0 if no listing waits for a decision.
  /// - Throws: `invalidConfiguration` for a type that is not declared; the store's codes. Portions so
  ///   far are written then.
  /// - Complexity: O(*n* log *m*) for *n* records of *m*.
  @discardableResult
  public func sendAgain(_ type: RecordType) async throws(SyncError) -> Int {
    var (count, last) = (0, String?.none)
    repeat {
      let start = last
      let portion = try await perform { (batch) throws(SyncError) in
        try batch.writer.sendAgain(type, after: start)
      }
      count += portion.count
      last = portion.end
    } while last != nil
    return count
  }
}

extension EditWriter {
  /// Writes one portion of the unlisted records to the remote again.
  fileprivate mutating func sendAgain(
    _ type: RecordType, after key: String?
  ) throws(SyncError) -> (count: Int, end: String?) {
    guard let entity = schema[type] else {
      throw SyncError(
        .invalidConfiguration, during: "sending \(type) again", "The record type \(type) is not declared.")
    }
    guard let checkpoint = try transaction.checkpoint(for: type), checkpoint.inFlight == nil,
      checkpoint.sweep != nil
    else { return (0, nil) }
    let unlisted = try transaction.portion(unmarked: type, after: key).map(\.id)
    let pending = try transaction.edits(of: unlisted)
    var batch = Batch()
    var notes: [RecordID] = []
    for shown in try transaction.records(withIDs: unlisted).compactMap(\.self) {
      let former = pending[shown.id]
      // What was sent has its answer first, and a draft is not sent.
      if former?.sent != nil || former?.isHeldByTheApp == true { continue }
      let content = former?.edit.content ?? .upsert(shown.payload, schemaVersion: shown.schemaVersion)
      batch.add(entry(for: content, of: shown.id, entity, on: .none, after: nil), entity)
      notes.append(shown.id)
    }
    try transaction.forgetAbsence(of: notes)
    try write(batch)
    return (notes.count, unlisted.last?.key)
  }
}
