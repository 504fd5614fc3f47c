import CanonicalSync
import SyncJSON
import ToolSupport

/// What is to be done to one record, and to its edit that waits in the outbox.
enum Alteration: Sendable {
  /// Members get values, as JSON, or are removed.
  case set([Member])
  case delete
  /// The edit that waits is given up.
  case discard
  /// The edit that the remote refused or put off is sent again.
  case retry

  /// A member of a record's JSON object, and what becomes of it.
  struct Member: Sendable {
    var field: FieldName
    /// The value, as JSON; `nil` to remove the member.
    var value: [UInt8]?
  }

  /// Reads what the options say, of which exactly one kind has to be given.
  init(
    of key: String, set: [String], unset: [String], deletes: Bool, discards: Bool, retries: Bool
  ) throws(UsageError) {
    var members: [Member] = []
    for text in set { members.append(try Member(text)) }
    members += unset.map { Member(field: FieldName($0), value: nil) }
    if members.contains(where: { $0.field == "id" && $0.value != JSONString.quoted(key) }) {
      throw UsageError("a record's id stays what it is; --id names the record to edit")
    }
    switch (members.isEmpty, deletes, discards, retries) {
    case (false, false, false, false): self = .set(members)
    case (true, true, false, false): self = .delete
    case (true, false, true, false): self = .discard
    case (true, false, false, true): self = .retry
    case (true, false, false, false):
      throw UsageError("edit needs one of --set, --unset, --delete, --discard and --retry")
    default:
      throw UsageError("--delete, --discard and --retry go neither together nor with --set or --unset")
    }
  }

  /// Does it, in one transaction.
  ///
  /// - Returns: Whether anything was changed by it.
  func perform(on id: RecordID, _ edits: LocalEdits, of store: any LocalStore) async throws(SyncError) -> Bool
  {
    switch self {
    case .set(let members):
      return try await edits.perform { (batch) throws(SyncError) in
        let before = try batch.record(id)
        try batch.set(id) { (fields) throws(SyncError) in
          for member in members { fields[member.field] = member.value?[...] }
          // A new record says who it is, as those of the remote do.
          if before == nil { fields["id"] = JSONString.quoted(id.key)[...] }
        }
        return try batch.record(id) != before
      }
    case .delete:
      return try await edits.perform { (batch) throws(SyncError) in
        let before = try batch.record(id)
        try batch.delete(id)
        return before != nil
      }
    case .discard:
      let before = try await Self.pending(id, in: store)
      try await edits.discard(id)
      return before != nil
    case .retry:
      let before = try await Self.pending(id, in: store)
      try await edits.retry(id.type, [id.key])
      return before.map { $0.state != .waiting } ?? false
    }
  }

  /// The edit of a record that waits in the outbox.
  static func pending(_ id: RecordID, in store: any LocalStore) async throws(SyncError) -> OutboxEntry? {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.outbox(for: [id]) }.first
  }
}

extension Alteration.Member {
  /// Reads `name=json`.
  init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw UsageError("--set takes a member's name and its value, as in --set 'floor=2', not \(text)")
    }
    let bytes = Array(parts[1].utf8)
    do {
      // The record around it is one level itself.
      try JSONScanner.validate(bytes[...], depthLimit: JSONScanner.defaultDepthLimit - 1)
    } catch {
      let quoted = String(decoding: JSONString.quoted(String(parts[1])), as: UTF8.self)
      throw UsageError(
        "the value of \(parts[0]) is not JSON: \(error); a text has quotes: --set '\(parts[0])=\(quoted)'")
    }
    self.init(field: FieldName(String(parts[0])), value: bytes)
  }
}
