#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// The checksum of an edit's columns, which its row in the outbox has.
  ///
  /// Edits exist nowhere else, and damage of them would reach the remote. Every statement that
  /// writes one of the columns sets the checksum, so a row that differs from it is damaged, or
  /// another tool has written it.
  ///
  /// It is the sum of two, because the sending of an edit changes without the rest. A row that is
  /// damaged in the rest then stays so. Columns are added in their order, and NULL adds nothing.
  struct EditChecksum {
    private var digest: UInt64 = 0
    private var place: Int32 = 0

    static let column = "checksum"

    /// The checksum of an edit.
    ///
    /// - Parameters:
    ///   - sent: What was sent, if it is another edit.
    ///   - leaves: The records that the edit leaves, as the column has them.
    static func of(_ entry: OutboxEntry, sentApart sent: Edit?, leaves: String?) -> Int64 {
      var content = EditChecksum()
      content.add(entry.id.type.rawValue)
      content.add(entry.id.key)
      content.add(entry.edit.stamp)
      content.add(entry.edit.content)
      content.add(entry.base)
      if case .rebuild(let rebuilt) = entry.author {
        content.add(rebuilt.pass)
        content.add(rebuilt.lastWrite)
      } else {
        content.skip(4)
      }
      content.add(leaves)
      if case .rebuild(let rebuilt) = entry.author {
        content.add(rebuilt.winner?.key)
      } else {
        content.skip()
      }
      return content.value + ofSending(entry, apart: sent)
    }

    /// The part that the sending of an edit changes.
    static func ofSending(_ entry: OutboxEntry, apart sent: Edit?) -> Int64 {
      var sending = EditChecksum()
      if let sent {
        sending.add("other" as StaticString)
        sending.add(sent.stamp)
        sending.add(sent.content)
      } else {
        sending.add((entry.sent == nil ? "nothing" : "edit") as StaticString)
        sending.skip(5)
      }
      sending.add(entry.state)
      sending.add(Int64(entry.attempts))
      return sending.value
    }

    private static let content = [
      "type", "id", "physical", "counter", "replica", "schema_version", "payload",
      "base", "base_epoch", "base_sequence", "base_modified_at", "base_entity_tag", "base_schema_version",
      "base_payload", "rebuilt_pass", "rebuilt_physical", "rebuilt_counter", "rebuilt_replica", "leaves",
      "rebuilt_winner",
    ]
    private static let sending = [
      "sent", "sent_physical", "sent_counter", "sent_replica", "sent_schema_version", "sent_payload",
      "state", "state_at", "refusal", "attempts",
    ]

    /// The checksum of a row of the outbox, as an expression.
    static let ofRow = "\(of(content)) + \(of(sending))"
    /// Whether a row differs from its checksum, as an expression.
    static let differs = "\(column) IS NOT \(ofRow)"

    private static let function = "canonicalsync_checksum"

    private static func of(_ columns: [String]) -> String {
      "\(function)(\(columns.joined(separator: ", ")))"
    }

    /// Registers the function of the expressions on a connection.
    static func install(on handle: OpaquePointer) {
      let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
      sqlite3_create_function_v2(handle, function, -1, flags, nil, csqlite_give_checksum, nil, nil, nil)
    }

    // MARK: Columns

    private var value: Int64 { Int64(csqlite_checksum(digest)) }

    private mutating func add(_ value: Int64) { add(UInt64(bitPattern: value), SQLITE_INTEGER) }

    private mutating func add(_ value: Int64?) {
      if let value { add(value) } else { skip() }
    }

    private mutating func add(_ word: StaticString) {
      add(csqlite_digest(word.utf8Start, word.utf8CodeUnitCount), SQLITE_TEXT)
    }

    private mutating func add(_ text: String) {
      var text = text
      add(text.withUTF8 { csqlite_digest($0.baseAddress, $0.count) }, SQLITE_TEXT)
    }

    private mutating func add(_ text: String?) {
      if let text { add(text) } else { skip() }
    }

    private mutating func add(_ payload: Payload) {
      add(payload.bytes.withUnsafeBytes { csqlite_digest($0.baseAddress, $0.count) }, SQLITE_BLOB)
    }

    /// Leaves out some columns that are NULL.
    private mutating func skip(_ count: Int32 = 1) { place += count }

    private mutating func add(_ word: UInt64, _ type: Int32) {
      digest = csqlite_add_column(digest, place, type, word)
      place += 1
    }

    private mutating func add(_ version: Version, tag: String?) {
      add(version.epoch)
      add(version.sequence)
      add(version.modifiedAt.microseconds)
      add(tag)
    }

    private mutating func add(_ stamp: EditStamp) {
      add(stamp.physical.microseconds)
      add(Int64(stamp.counter))
      add(stamp.replica)
    }

    private mutating func add(_ content: Edit.Content) {
      switch content {
      case .upsert(let payload, let schemaVersion):
        add(Int64(schemaVersion))
        add(payload)
      case .deletion: skip(2)
      }
    }

    private mutating func add(_ base: OutboxEntry.Base) {
      let stored = base.stored
      add(stored.word)
      if let version = stored.version { add(version, tag: stored.tag) } else { skip(4) }
      add(stored.schemaVersion)
      if let payload = base.record?.payload { add(payload) } else { skip() }
    }

    private mutating func add(_ state: OutboxEntry.State) {
      let stored = state.stored
      add(stored.word)
      add(stored.time)
      add(stored.refusal)
    }
  }
#endif
