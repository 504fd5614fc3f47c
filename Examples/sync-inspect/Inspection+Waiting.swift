import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncCore

extension Inspection {
  /// Prints the records that wait for records that they refer to, by those.
  ///
  /// - Parameters:
  ///   - typeName: The type to show; `nil` for all.
  ///   - limit: The most groups to show.
  ///   - isFull: Whether each group names all its records.
  func waiting(_ typeName: String?, limit: Int, isFull: Bool) async throws(SyncError) {
    let entities = if let typeName { [try await entity(named: typeName)] } else { try await entities() }
    let found = try await store.read { (snapshot) throws(SyncError) in
      try WaitingRecords.gather(
        entities.map(\.type), examples: isFull ? .max : WaitingRecords.shownExamples, in: snapshot)
    }
    let shown = found.groups.prefix(limit)
    guard !isJSON else {
      return output.line(
        [
          "waiting": .integer(found.count), "missing": .integer(found.groups.count),
          "groups": .array(shown.map(Self.object)),
        ] as JSON)
    }
    guard found.count > 0 else { return output.line("No record waits for another one.") }
    for group in shown {
      let waits = Counted(group.count, "record waits", "records wait").grouped
      output.prose(
        "\(group.missing) \(group.cause.words); \(waits) for it since \(group.since.spelled): \(group.names)",
        indent: 2)
    }
    if found.groups.count > shown.count {
      let more = Counted(found.groups.count - shown.count, "more record is", "more records are").grouped
      output.line("\(more) missing; --limit shows more.")
    }
  }

  private static func object(_ group: WaitingRecords.Group) -> JSON {
    [
      "missing": .string(group.missing.description), "type": .string(group.missing.type.rawValue),
      "key": .string(group.missing.key), "cause": .string(group.cause.rawValue),
      "count": .integer(group.count), "sinceMilliseconds": .time(group.since),
      "records": .array(group.examples.map { .string($0.description) }),
    ]
  }
}

extension WaitingRecords {
  /// The most records that a group names, unless all are asked for.
  static let shownExamples = 5
}

extension WaitingRecords.Group {
  /// The names of the first records of the group.
  var names: String {
    let more = count - examples.count
    return examples.map(\.description).joined(separator: ", ")
      + (more > 0 ? " and \(Counted(more, "other").grouped)" : "")
  }
}
