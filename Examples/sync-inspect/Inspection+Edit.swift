import CanonicalSync
import CanonicalSyncToolSupport

extension Inspection {
  /// Edits one record through the library. Row and outbox change together, or not at all.
  ///
  /// - Parameter path: The store's file. It is opened for writing only if the store has the type.
  func edit(
    _ typeName: String, _ key: String, _ alteration: Alteration, at path: String
  ) async throws(SyncError) {
    let entity = try await entity(named: typeName)
    let id = RecordID(type: entity.type, key: key)
    let schema = try SyncSchema(try await entities())
    let isNew = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.records(withIDs: [id]) == [nil]
    }
    let hasChanged = try await withWritableStore(at: path) { (store) throws(SyncError) in
      try await alteration.perform(
        on: id, LocalEdits(store: store, schema: schema), of: store)
    }
    let pending = try await Explanation.load(id, from: store).waiting
    let makes = if case .set = alteration { hasChanged } else { false }
    guard !isJSON else {
      let object: JSON = [
        "id": .string(id.description), "changed": .bool(hasChanged), "created": .bool(isNew && makes),
        "pending": pending.map(Self.object) ?? .null,
      ]
      return output.line(object)
    }
    if isNew, makes {
      output.prose("There was no \(id): it is a new record. `sync-inspect edit --discard` takes it back.")
    }
    output.prose(Self.sentence(alteration, id, hasChanged, pending))
    if let pending { output.prose("In the outbox: \(Self.fate(of: pending)).") }
  }

  private static func sentence(
    _ alteration: Alteration, _ id: RecordID, _ hasChanged: Bool, _ pending: PendingEdit?
  ) -> String {
    let end = pending == nil ? ", and nothing is left to push." : "; the next push tells the remote."
    return switch (alteration, hasChanged) {
    case (.set, true): "\(id) is changed here\(end)"
    case (.set, false): "\(id) is like that already; nothing was changed."
    case (.delete, true): "\(id) is deleted here\(end)"
    case (.delete, false): "There is no \(id); nothing was changed."
    case (.discard, true): "The edit of \(id) is discarded; the record has the remote's last known state."
    case (.discard, false): "No edit of \(id) waits; nothing was changed."
    case (.retry, true): "The edit of \(id) is sent again with the next push."
    case (.retry, false): "No edit of \(id) was refused or postponed; nothing was changed."
    }
  }
}
