import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncCore
import SyncJSON

extension Inspection {
  /// Prints the pending edits, each type's in the order in which they were made.
  ///
  /// - Parameter typeName: The type to show; `nil` for all.
  func outbox(_ typeName: String?) async throws(SyncError) {
    let entities = if let typeName { [try await entity(named: typeName)] } else { try await entities() }
    // One snapshot: a concurrent push must not make an edit appear twice, or not at all.
    let edits = try await store.read { (snapshot) throws(SyncError) in
      var edits: [PendingEdit] = []
      for entity in entities { edits += try PendingEdit.all(of: entity, in: snapshot) }
      return edits
    }
    guard !isJSON else {
      let object: JSON = [
        "pending": .integer(edits.count), "refused": .integer(edits.count { $0.kind == .change }),
        "entries": .array(edits.map(Self.object)),
      ]
      return output.line(object)
    }
    guard !edits.isEmpty else { return output.line("No edit waits to be pushed.") }
    let rows = edits.map { edit -> [TextTable.Cell] in
      let entry = edit.entry
      return [
        .text(entry.id.description), .text(Self.what(entry.edit.content)),
        .text(entry.edit.stamp.physical.spelled), .text(Self.base(of: entry)), .number(entry.attempts),
        .text(Self.fate(of: edit)),
      ]
    }
    output.line(
      TextTable(["record", "what", "edited", "base", "attempts", "state"], rows: rows)
        .text(fitting: output.width))
  }

  // MARK: One entry

  /// The edit as JSON.
  static func object(_ edit: PendingEdit) -> JSON {
    let entry = edit.entry
    var reason: JSON = .null
    var (state, until) = ("waiting", JSON.null)
    var records: [JSON] = []
    switch edit.wait {
    case .push, .answer, .room: break
    case .time(let instant): (state, until) = ("postponed", .time(instant))
    case .change(let words): (state, reason) = ("refused", .string(words))
    case .release: state = "draft"
    case .records(let ids, let words):
      (records, reason) = (ids.map { .string($0.description) }, .string(words))
    case .upgrade(let words): reason = .string(words)
    }
    return [
      "type": .string(entry.id.type.rawValue), "key": .string(entry.id.key),
      "what": .string(what(entry.edit.content)), "stamp": .string(entry.edit.stamp.description),
      "editedAtMilliseconds": .time(entry.edit.stamp.physical),
      "base": entry.base.version.map { .version($0) } ?? .null,
      "isBaseDeleted": .bool(entry.base.version != nil && entry.base.record == nil),
      "attempts": .integer(entry.attempts), "isUnanswered": .bool(entry.sent != nil), "state": .string(state),
      "waitsFor": .string(edit.kind.rawValue), "records": .array(records),
      "isSentWithNextPush": .bool(edit.isSentWithNextPush), "reason": reason, "untilMilliseconds": until,
    ]
  }

  /// The edit in a word.
  static func what(_ content: Edit.Content) -> String {
    content == .deletion ? "delete" : "upsert"
  }

  /// The base of the edit.
  private static func base(of entry: OutboxEntry) -> String {
    switch entry.base {
    case .none: "new"
    case .copy(let record): record.version.spelled
    case .deleted(let tombstone): "deleted, \(tombstone.version.spelled)"
    }
  }

  /// The next step of the edit.
  static func fate(of edit: PendingEdit) -> String {
    // Quoted, so that no byte of the remote's message affects a terminal.
    func quoted(_ words: String) -> String { String(decoding: JSONString.quoted(words), as: UTF8.self) }
    return switch edit.wait {
    case .push: "waits for the next push"
    case .answer: "sent, and waits for an answer"
    case .time(let until): "postponed by the remote until \(until.spelled)"
    case .release: "is a draft"
    case .room: "waits for storage at the remote"
    case .change(let reason):
      "refused\(edit.entry.refusedAt.map { " at \($0.spelled)" } ?? ""): \(quoted(reason))"
    case .records(_, let reason): "waits for other records: \(quoted(reason))"
    case .upgrade(let reason): "waits for an update of the app: \(quoted(reason))"
    }
  }
}

extension OutboxEntry {
  fileprivate var refusedAt: Timestamp? {
    if case .refused(_, let instant) = state { instant } else { nil }
  }
}
