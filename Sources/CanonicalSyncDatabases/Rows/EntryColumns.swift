/// The columns of a table that both databases have, in the order of reads and writes.
///
/// A value of several columns, such as a version, is read and written at the first one. The second
/// column is the key.
package protocol EntryColumn: RawRepresentable<Int>, CaseIterable, CodingKey {}

extension EntryColumn {
  /// The column's name in SQL, which is that of the case with underscores.
  ///
  /// The compiler gives a coding key the name of its case, also in a program without metadata for
  /// reflection.
  package var name: String {
    var name = ""
    for character in stringValue {
      name += character.isUppercase ? "_" + character.lowercased() : String(character)
    }
    return name
  }
}

/// The columns of the outbox.
package enum OutboxColumn: Int, EntryColumn {
  case type, id, physical, counter, replica, schemaVersion, base, baseEpoch, baseSequence, baseModifiedAt,
    baseEntityTag, baseSchemaVersion, sent, sentPhysical, sentCounter, sentReplica, sentSchemaVersion, state,
    stateAt, refusal, attempts, payload, basePayload, sentPayload, rebuiltPass, rebuiltPhysical,
    rebuiltCounter, rebuiltReplica, leaves, rebuiltWinner
}

/// The columns of withheld changes.
package enum WithheldColumn: Int, EntryColumn {
  case type, slot, kind, change, recordType, recordKey, versionEpoch, versionSequence, versionModifiedAt,
    entityTag, schemaVersion, flaw, location, reason, waitsFor, pass, fence, since, payload
}

/// The columns of the conflict log, besides the number.
package enum ConflictColumn: Int, EntryColumn {
  case type, id, settledAt, winner, reason, localPhysical, localCounter, localReplica, localSchemaVersion,
    remote, remoteEpoch, remoteSequence, remoteModifiedAt, remoteEntityTag, remoteSchemaVersion,
    remotePhysical, remoteCounter, remoteReplica, localPayload, remotePayload, basePayload
}
