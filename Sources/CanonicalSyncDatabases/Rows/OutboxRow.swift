package import SyncModels

extension TableRow where Column == OutboxColumn {
  /// Reads the entry of a record.
  package func entry(of id: RecordID) throws(SyncError) -> OutboxEntry {
    let edit = Edit(content(payload: .payload, schemaVersion: .schemaVersion), stamp: stamp(.physical))
    let attempts = integer(.attempts)
    guard StoredNumbers.counts.contains(attempts) else { throw Self.unreadable("number of attempts") }
    return OutboxEntry(
      id: id, edit: edit, base: try base(of: id), sent: try sent(insteadOf: edit), state: try state(),
      attempts: Int(attempts), author: author(of: id.type), leaves: try leaves())
  }

  private func author(of type: RecordType) -> OutboxEntry.Author {
    if isNull(.rebuiltPass) { return .app }
    let winner = optionalText(.rebuiltWinner).map { RecordID(type: type, key: $0) }
    return .rebuild(
      OutboxEntry.Rebuilt(lastWrite: stamp(.rebuiltPhysical), pass: integer(.rebuiltPass), winner: winner))
  }

  private func leaves() throws(SyncError) -> [RecordID] {
    if isNull(.leaves) { return [] }
    return try decoded([RecordID].self, from: text(.leaves), what: "records that an edit leaves")
  }

  private func base(of id: RecordID) throws(SyncError) -> OutboxEntry.Base {
    if holds("copy", in: .base) {
      return .copy(
        copy(
          of: id, version: .baseEpoch, tag: .baseEntityTag, schemaVersion: .baseSchemaVersion,
          payload: .basePayload))
    }
    if holds("none", in: .base) { return .none }
    guard holds("deleted", in: .base) else { throw Self.unreadable("base") }
    return .deleted(Tombstone(id: id, version: version(.baseEpoch), entityTag: optionalText(.baseEntityTag)))
  }

  private func sent(insteadOf edit: Edit) throws(SyncError) -> Edit? {
    if holds("nothing", in: .sent) { return nil }
    if holds("edit", in: .sent) { return edit }
    guard holds("other", in: .sent) else { throw Self.unreadable("word for what was sent") }
    return Edit(
      content(payload: .sentPayload, schemaVersion: .sentSchemaVersion), stamp: stamp(.sentPhysical))
  }

  private func state() throws(SyncError) -> OutboxEntry.State {
    if holds("waiting", in: .state) { return .waiting }
    if holds("postponed", in: .state) { return .postponed(until: time(.stateAt)) }
    guard holds("refused", in: .state) else { throw Self.unreadable("state") }
    return .refused(reason: text(.refusal), at: time(.stateAt))
  }

  private static func unreadable(_ what: String) -> SyncError {
    SyncError(.storeUnreadable, during: "reading the outbox", "An entry has a \(what) that does not exist.")
  }
}

// What the columns of an entry hold.

extension OutboxEntry {
  /// What was sent, if it is another edit. Usually the edit itself was sent last.
  package var sentApart: Edit? {
    guard let sent, sent != edit else { return nil }
    return sent
  }
}

extension OutboxEntry.Base {
  /// The word, and the values of the columns except the payload.
  package var stored: (word: StaticString, version: Version?, tag: String?, schemaVersion: Int64?) {
    switch self {
    case .none: ("none", nil, nil, nil)
    case .copy(let record): ("copy", record.version, record.entityTag, Int64(record.schemaVersion))
    case .deleted(let tombstone): ("deleted", tombstone.version, tombstone.entityTag, nil)
    }
  }
}

extension OutboxEntry.State {
  /// The word, and the values of the columns.
  package var stored: (word: StaticString, time: Int64?, refusal: String?) {
    switch self {
    case .waiting: ("waiting", nil, nil)
    case .postponed(let instant): ("postponed", instant.microseconds, nil)
    case .refused(let reason, let instant): ("refused", instant.microseconds, reason)
    }
  }
}

extension Edit.Content {
  /// The schema version; `nil` for a deletion.
  package var storedSchemaVersion: Int64? {
    if case .upsert(_, let schemaVersion) = self { Int64(schemaVersion) } else { nil }
  }
}
