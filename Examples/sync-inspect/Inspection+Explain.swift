import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters

extension Inspection {
  /// Prints the store's knowledge of one record.
  ///
  /// - Returns: Whether the store knows the record.
  func explain(_ typeName: String, _ key: String) async throws(SyncError) -> Bool {
    let entity = try await entity(named: typeName)
    let story = try await Explanation.load(RecordID(type: entity.type, key: key), from: store)
    let isKnown =
      story.live != nil || story.state != nil || !story.withheld.isEmpty || story.pending != nil
    guard !isJSON else {
      output.line(Self.object(story, isKnown: isKnown))
      return isKnown
    }
    output.prose(story.description)
    if let live = story.live {
      if live.version != .unversioned {
        output.prose("The remote last modified it at \(live.version.modifiedAt.spelled).")
      }
      if entity.schemaVersionField != nil {
        output.prose(
          "It was written with schema \(live.schemaVersion); the app understands \(entity.schemaVersion).")
      }
    } else if let state = story.state, state.isDeleted, story.pending == nil {
      output.prose("The deletion is of \(state.version.modifiedAt.spelled).")
    }
    if let pending = story.pending {
      output.prose(
        "The edit was made at \(pending.edit.stamp.physical.spelled); it was sent \(Counted(pending.attempts, "time").grouped)."
      )
    }
    for entry in story.withheld {
      output.prose("The \(entry.kind.word) change was withheld at \(entry.since.spelled).")
    }
    return isKnown
  }

  private static func object(_ story: Explanation, isKnown: Bool) -> JSON {
    let live: JSON =
      story.live.map {
        [
          "version": .version($0.version), "entityTag": .text($0.entityTag),
          "schemaVersion": .integer($0.schemaVersion), "bytes": .integer($0.payload.bytes.count),
        ]
      } ?? .null
    let isDeletedThere = story.state?.isDeleted == true && story.pending?.edit.content != .deletion
    let deleted: JSON = story.state.flatMap { isDeletedThere ? .version($0.version) : nil } ?? .null
    let withheld = story.withheld.map { entry -> JSON in
      [
        "kind": .string(entry.kind.rawValue), "reason": .string(entry.reason),
        "waitsFor": .array(entry.waitsFor.map { .string($0.description) }),
        "pass": .integer(Int(entry.pass)), "sinceMilliseconds": .time(entry.since),
      ]
    }
    return [
      "id": .string(story.id.description), "known": .bool(isKnown), "live": live, "deleted": deleted,
      "withheld": .array(withheld), "pending": story.waiting.map(Self.object) ?? .null,
    ]
  }
}
