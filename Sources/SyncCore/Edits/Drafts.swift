public import SyncModels
import SyncPorts

// A draft is an edit that the app keeps back. It is stored as if the app had refused it, so that
// whatever spares a refused edit spares a draft.
extension LocalEdits {
  /// Keeps the pending edits of some records back, until ``release(_:)``.
  ///
  /// ```swift
  /// try await engine.edits.perform { batch in
  ///   try batch.upsert(message)
  ///   try batch.hold(message.recordID)
  /// }
  /// ```
  ///
  /// Readers see a draft like any edit, and further edits of the record stay in it. Edits that need the
  /// record at the remote wait for it.
  ///
  /// - Throws: `invalidEdit` for a record without a pending edit, and for one whose edit may have
  ///   reached the remote already; the store's codes. Nothing was written.
  public func hold(_ ids: RecordID...) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in
      for id in ids { try batch.hold(id) }
    }
  }

  /// Lets drafts go: the next push sends them. Records without a draft are ignored.
  public func release(_ ids: RecordID...) async throws(SyncError) {
    try await perform { (batch) throws(SyncError) in
      for id in ids { try batch.release(id) }
    }
  }
}

extension EditBatch {
  /// Keeps a record's pending edit back; see ``LocalEdits/hold(_:)``.
  public mutating func hold(_ id: RecordID) throws(SyncError) {
    let id = try writer.current(id)
    guard var entry = try transaction.outbox(for: [id]).first, entry.sent == nil else {
      throw SyncError(
        .invalidEdit, during: "keeping a draft of \(id)",
        "It has no pending edit, or one that may have reached the remote.")
    }
    entry.keepBack(at: writer.now)
    try transaction.queue([entry])
    writer.changed.insert(id)
  }

  /// Lets a record's draft go; see ``LocalEdits/release(_:)``.
  public mutating func release(_ id: RecordID) throws(SyncError) {
    let id = try writer.current(id)
    guard var entry = try transaction.outbox(for: [id]).first, entry.isDraft else { return }
    entry.state = .waiting
    try transaction.queue([entry])
    writer.changed.insert(id)
  }
}

extension OutboxEntry {
  private static let draft = "The app keeps the edit as a draft."

  /// Makes the edit a draft.
  mutating func keepBack(at now: Timestamp) { state = .refused(reason: Self.draft, at: now) }

  /// Whether the app keeps the edit back.
  var isDraft: Bool { if case .refused(Self.draft, _) = state { true } else { false } }

  /// Whether the edit waits for the app: as a draft, for other credentials, or without its group.
  var isHeldByTheApp: Bool { isDraft || isHeldForAccount || isOfBrokenGroup }
}
