#if SQLite
  import SyncModels

  // The checksum of an edit is the sum of two, because its sending changes without the rest. A row
  // that is damaged in the rest then stays so.
  extension OutboxRows {
    private static let content = [
      "type", "id", "physical", "counter", "replica", "schema_version", "payload",
      "base", "base_epoch", "base_sequence", "base_modified_at", "base_entity_tag", "base_schema_version",
      "base_payload", "rebuilt_pass", "rebuilt_physical", "rebuilt_counter", "rebuilt_replica", "leaves",
    ]
    private static let sending = [
      "sent", "sent_physical", "sent_counter", "sent_replica", "sent_schema_version", "sent_payload",
      "state", "state_at", "refusal", "attempts",
    ]
    /// The checksum of a row, as an expression.
    static let checksum = "\(RowChecksum.of(content)) + \(RowChecksum.of(sending))"
  }

  extension RowChecksum {
    /// The checksum of an edit.
    ///
    /// - Parameters:
    ///   - sent: What was sent, if it is another edit.
    ///   - leaves: The records that the edit leaves, as the column has them.
    static func of(_ entry: OutboxEntry, sentApart sent: Edit?, leaves: String?) -> Int64 {
      var content = RowChecksum()
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
      return content.value + ofSending(entry, apart: sent)
    }

    /// The part that the sending of an edit changes.
    static func ofSending(_ entry: OutboxEntry, apart sent: Edit?) -> Int64 {
      var sending = RowChecksum()
      if let sent {
        sending.add(word: "other")
        sending.add(sent.stamp)
        sending.add(sent.content)
      } else {
        sending.add(word: entry.sent == nil ? "nothing" : "edit")
        sending.skip(5)
      }
      sending.add(entry.state)
      sending.add(Int64(entry.attempts))
      return sending.value
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
      switch base {
      case .none:
        add(word: "none")
        skip(6)
      case .copy(let record):
        add(word: "copy")
        add(record.version, tag: record.entityTag)
        add(Int64(record.schemaVersion))
        add(record.payload)
      case .deleted(let tombstone):
        add(word: "deleted")
        add(tombstone.version, tag: tombstone.entityTag)
        skip(2)
      }
    }

    private mutating func add(_ state: OutboxEntry.State) {
      switch state {
      case .waiting:
        add(word: "waiting")
        skip(2)
      case .postponed(let instant):
        add(word: "postponed")
        add(instant.microseconds)
        skip()
      case .refused(let reason, let instant):
        add(word: "refused")
        add(instant.microseconds)
        add(reason)
      }
    }
  }
#endif
