import SyncModels

// The entries of all kinds: what is kept of a change that readers do not see, and why.

extension WithheldChange {
  /// Returns a copy that waits for absent records.
  static func parked(
    _ record: Record, waitingFor missing: [RecordID], pass: Int64, finder: Finder, since: Timestamp
  ) -> WithheldChange {
    WithheldChange(
      key: .record(record.id), kind: .parked, change: .upsert(record), reason: reason(forMissing: missing),
      waitsFor: missing, pass: pass, finder: finder, since: since)
  }

  /// Returns the entry as one that waits for absent records.
  func parked(waitingFor missing: [RecordID]) -> WithheldChange {
    var entry = self
    entry.kind = .parked
    entry.waitsFor = missing
    entry.reason = Self.reason(forMissing: missing)
    return entry
  }

  private static func reason(forMissing missing: [RecordID]) -> String {
    let names = missing.prefix(3).map(\.description).joined(separator: ", ")
    let more = missing.count > 3 ? " and \(missing.count - 3) more" : ""
    return "refers to \(names)\(more), which is not here"
  }
}

extension MergeContext {
  func parked(_ record: Record, waitingFor missing: [RecordID], origin: Incoming.Origin) -> WithheldChange {
    let entry = WithheldChange.parked(
      record, waitingFor: missing, pass: pass, finder: finder, since: now)
    return keeping(origin, of: entry)
  }

  func held(_ tombstone: Tombstone, origin: Incoming.Origin) -> WithheldChange {
    entry(
      .record(tombstone.id), .held, .tombstone(tombstone),
      "deleted at the remote, and other records still refer to it", origin: origin)
  }

  func incompatible(_ record: Record, entity: Entity, origin: Incoming.Origin) -> WithheldChange {
    entry(
      .record(record.id), .incompatible, .upsert(record),
      "written with schema \(record.schemaVersion), and the app understands up to \(entity.schemaVersion)",
      origin: origin)
  }

  func staged(_ change: RecordChange, id: RecordID, origin: Incoming.Origin) -> WithheldChange {
    entry(.record(id), .staged, change, "waits until all of \(id.type) has arrived", origin: origin)
  }

  func missing(_ tombstone: Tombstone) -> WithheldChange {
    entry(
      .record(tombstone.id), .missing, .tombstone(tombstone),
      "the last complete listing lacked it; it is removed if the next one lacks it too", origin: .page)
  }

  func quarantine(_ malformed: MalformedRecord, at key: WithheldChange.Key) -> WithheldChange {
    entry(key, .quarantined, .malformed(malformed), malformed.reason, origin: .page)
  }

  private func entry(
    _ key: WithheldChange.Key, _ kind: WithheldChange.Kind, _ change: RecordChange, _ reason: String,
    origin: Incoming.Origin
  ) -> WithheldChange {
    let entry = WithheldChange(
      key: key, kind: kind, change: change, reason: reason, pass: pass, finder: finder, since: now)
    return keeping(origin, of: entry)
  }

  /// A change that is withheld again keeps the pass and the sync that fetched it.
  private func keeping(_ origin: Incoming.Origin, of entry: WithheldChange) -> WithheldChange {
    guard case .withheld(let earlier) = origin else { return entry }
    var entry = entry
    (entry.pass, entry.finder, entry.since) = (earlier.pass, earlier.finder, earlier.since)
    return entry
  }
}

// No byte of a record's key is 254 or 255, so a key followed by one of them is unambiguous.
extension WithheldChange.Key {
  /// Returns the key of a withheld change: its record, if that is known.
  static func of(_ change: RecordChange) -> WithheldChange.Key? {
    change.id.map { .record($0) }
  }

  /// Returns the key of a malformed record while another change of the record is withheld.
  static func beside(_ id: RecordID) -> WithheldChange.Key {
    .bytes(id.type, digest: ContentDigest.of((Array(id.key.utf8) + [254])[...]))
  }

  /// Returns the key of a malformed record by its bytes.
  ///
  /// Several of them may belong to one record, or the record may be unknown: two records may be
  /// malformed alike.
  static func bytes(of malformed: MalformedRecord) -> WithheldChange.Key {
    .bytes(
      malformed.type,
      digest: ContentDigest.of((Array((malformed.key ?? "").utf8) + [255] + malformed.bytes.bytes)[...]))
  }
}
