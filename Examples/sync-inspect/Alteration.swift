import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncJSON

/// A change to one record, and to its edit in the outbox.
enum Alteration: Sendable {
  /// Sets members to JSON values, or removes them.
  case set([Member])
  case delete
  /// Discards the edit in the outbox.
  case discard
  /// Sends an edit again that the remote refused or postponed.
  case retry

  /// A member of a record's JSON object, and its new value.
  struct Member: Sendable {
    var field: FieldName
    /// The value, as JSON; `nil` to remove the member.
    var value: [UInt8]?
  }

  /// Reads the options, of which exactly one kind must be given.
  init(
    of key: String, set: [String], unset: [String], deletes: Bool, discards: Bool, retries: Bool
  ) throws(UsageError) {
    var members: [Member] = []
    for text in set { members.append(try Member(text)) }
    members += unset.map { Member(field: FieldName($0), value: nil) }
    if members.contains(where: { $0.field == "id" && $0.value != JSONString.quoted(key) }) {
      throw UsageError("a record's id cannot change; --id names the record to edit")
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

  /// Performs the alteration in one transaction.
  ///
  /// - Returns: Whether it changed anything.
  func perform(on id: RecordID, _ edits: LocalEdits, of store: any LocalStore) async throws(SyncError) -> Bool
  {
    switch self {
    case .set(let members):
      return try await edits.perform { (batch) throws(SyncError) in
        let before = try batch.record(id)
        try batch.set(id) { (fields) throws(SyncError) in
          for member in members { fields[member.field] = member.value?[...] }
          // A new record holds its own id, as those of the remote do.
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

  /// The record's edit in the outbox.
  static func pending(_ id: RecordID, in store: any LocalStore) async throws(SyncError) -> OutboxEntry? {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.outbox(for: [id]) }.first
  }
}

extension Alteration.Member {
  /// Parses `name=json`.
  init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw UsageError("--set takes a member's name and its value, as in --set 'floor=2', not \(text)")
    }
    let bytes = Array(parts[1].utf8)
    do {
      // The record around the value is one level itself.
      try JSONScanner.validate(bytes[...], depthLimit: JSONScanner.defaultDepthLimit - 1)
    } catch {
      let quoted = String(decoding: JSONString.quoted(String(parts[1])), as: UTF8.self)
      throw UsageError(
        "the value of \(parts[0]) is not JSON: \(error); a text has quotes: --set '\(parts[0])=\(quoted)'")
    }
    self.init(field: FieldName(String(parts[0])), value: bytes)
  }
}
