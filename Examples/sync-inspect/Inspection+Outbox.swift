import CanonicalSync
import ToolSupport

extension Inspection {
  /// Prints the edits that wait to be pushed, each type's in the order in which they were made.
  ///
  /// - Parameter typeName: The type to look at; `nil` for all.
  func outbox(_ typeName: String?) async throws(SyncError) {
    let entities = if let typeName { [try await entity(named: typeName)] } else { try await entities() }
    // One snapshot: an edit must not be shown twice, nor left out, because a push moved it meanwhile.
    let entries = try await store.read { (snapshot) throws(SyncError) in
      var entries: [OutboxEntry] = []
      for entity in entities {
        var last: EditStamp?
        repeat {
          let portion = try snapshot.outbox(entity.type, after: last, limit: 400)
          entries += portion
          last = portion.last?.edit.stamp
        } while last != nil
      }
      return entries
    }
    guard !isJSON else {
      let object: JSON = [
        "pending": .integer(entries.count), "refused": .integer(entries.count(where: \.isRefused)),
        "entries": .array(entries.map(Self.object)),
      ]
      return output.line(object.compact)
    }
    guard !entries.isEmpty else { return output.line("No edit waits to be pushed.") }
    let rows = entries.map { entry -> [TextTable.Cell] in
      [
        .text(entry.id.description), .text(Self.what(entry.edit.content)),
        .text(entry.edit.stamp.physical.spelled), .text(Self.base(of: entry)), .number(entry.attempts),
        .text(Self.fate(of: entry)),
      ]
    }
    output.line(TextTable(["record", "what", "edited", "base", "attempts", "state"], rows: rows).description)
  }

  // MARK: One entry

  /// The entry as a program reads it.
  static func object(_ entry: OutboxEntry) -> JSON {
    var reason: JSON = .null
    var (state, until) = ("waiting", JSON.null)
    switch entry.state {
    case .waiting: break
    case .postponed(let instant): (state, until) = ("postponed", .time(instant))
    case .refused(let words, _): (state, reason) = ("refused", .string(words))
    }
    return [
      "type": .string(entry.id.type.rawValue), "key": .string(entry.id.key),
      "what": .string(what(entry.edit.content)), "stamp": .string(entry.edit.stamp.description),
      "editedAt": .time(entry.edit.stamp.physical), "base": entry.base.version.map { .version($0) } ?? .null,
      "isBaseDeleted": .bool(entry.base.version != nil && entry.base.record == nil),
      "attempts": .integer(entry.attempts), "isUnanswered": .bool(entry.sent != nil), "state": .string(state),
      "reason": reason, "until": until,
    ]
  }

  /// The edit in a word.
  static func what(_ content: Edit.Content) -> String {
    content == .deletion ? "delete" : "upsert"
  }

  /// What the edit was made on.
  private static func base(of entry: OutboxEntry) -> String {
    switch entry.base {
    case .none: "new"
    case .copy(let record): record.version.spelled
    case .deleted(let tombstone): "deleted, \(tombstone.version.spelled)"
    }
  }

  /// What is to become of the entry.
  static func fate(of entry: OutboxEntry) -> String {
    switch entry.state {
    case .waiting: entry.sent == nil ? "waits for the next push" : "sent, and waits for an answer"
    case .postponed(let until): "put off by the remote until \(until.spelled)"
    // Quoted, so that no byte of what the remote said does anything to a terminal.
    case .refused(let reason, let instant):
      "refused at \(instant.spelled): \(String(decoding: JSONString.quoted(reason), as: UTF8.self))"
    }
  }
}

extension OutboxEntry {
  fileprivate var isRefused: Bool {
    if case .refused = state { true } else { false }
  }
}
