import SyncJSON
import SyncModels
import SyncPorts

/// Makes refused edits due again that may need what another record of their type had.
///
/// The next push sends them.
struct RefusalReview: SyncPhase {
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let freed = session.progress.freed
    _ = try await session.reconsiderRefused(session.entities.filter { freed.contains($0.type) })
    return .finished
  }
}

/// Makes all refused edits due again if the sync before this one did not come to its review.
struct OverdueRefusalReview: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      for entity in session.schema.entities where try snapshot.outboxCount(entity.type) > 0 {
        return try SyncHistory.wasCutShort(before: session.fence, in: snapshot)
      }
      return false
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    _ = try await session.reconsiderRefused(session.schema.entities)
    return .finished
  }
}

extension SyncSession {
  /// Makes the refused edits of some types due again, because records of the types have changed.
  ///
  /// Edits at which the remote fails stay as they are: an answer is missing, not a change. So do
  /// those that the app has to allow.
  ///
  /// - Returns: The types that have such edits, with their numbers of pending edits.
  func reconsiderRefused(
    _ entities: [Entity]
  ) async throws(SyncError) -> [(type: RecordType, count: Int)] {
    if entities.isEmpty { return [] }
    var reconsidered: [(type: RecordType, count: Int)] = []
    // Mostly no edit is left after a push.
    for pending in try await pendingEdits(of: entities) {
      let isAny = try await write { (transaction) throws(SyncError) in
        try !transaction.makeDue(pending.type, where: \.mayBeAccepted).isEmpty
      }
      if isAny { reconsidered.append(pending) }
    }
    return reconsidered
  }
}

extension StoreTransaction {
  /// Makes the next push send some edits of a type, whatever they wait for.
  ///
  /// - Returns: The records with such edits.
  func makeDue(
    _ type: RecordType, where isChosen: (OutboxEntry) -> Bool
  ) throws(SyncError) -> [RecordID] {
    var due: [RecordID] = []
    var portions = self.portions(outbox: type)
    while let entries = try portions.next() {
      let chosen = entries.filter(isChosen)
      if chosen.isEmpty { continue }
      due += chosen.map(\.id)
      try queue(
        chosen.map { entry in
          var entry = entry
          // The app has decided that an edit with an unknown outcome is sent again.
          if entry.isRefused { entry.sent = nil }
          entry.state = .waiting
          // The remote may have received what was sent.
          entry.attempts = entry.sent == nil ? 0 : 1
          return entry
        })
    }
    return due
  }
}

/// The texts and numbers that refused edits give their records, each of which another record may have,
/// and the remote accepts once.
final class NeededValues: Sendable {
  private let values: [RecordType: [FieldName: Set<FieldValue>]]

  /// Reads the refused edits of all types; `nil` if they need nothing.
  ///
  /// - Complexity: O(*n*) in the pending edits.
  init?(of schema: SyncSchema, in snapshot: any StoreSnapshot) throws(SyncError) {
    var edited: [RecordType] = []
    for entity in schema.entities where try snapshot.outboxCount(entity.type) > 0 {
      edited.append(entity.type)
    }
    if edited.isEmpty { return nil }
    var values: [RecordType: [FieldName: Set<FieldValue>]] = [:]
    for type in edited {
      var portions = snapshot.portions(outbox: type)
      while let entries = try portions.next() {
        for entry in entries where entry.mayBeAccepted {
          for (name, value) in Self.values(of: entry) {
            values[type, default: [:]][name, default: []].insert(value)
          }
        }
      }
    }
    if values.isEmpty { return nil }
    self.values = values
  }

  private static func values(of entry: OutboxEntry) -> [(FieldName, FieldValue)] {
    guard let members = entry.edit.content.payload.flatMap({ try? FieldMap($0) }) else { return [] }
    let base = entry.base.record.flatMap { try? FieldMap($0.payload) } ?? FieldMap()
    return members.fields.compactMap { name in
      guard members[name] != base[name], name != .editStamp,
        let json = members[name].flatMap({ try? JSONValueSlice(checking: $0) })
      else { return nil }
      let value = FieldValue(json)
      return switch value {
      case .null, .boolean, .composite: nil
      case .integer, .double, .string: (name, value)
      }
    }
  }

  /// Whether one of some changes takes a value from a live record, be it shown or withheld.
  ///
  /// It reads the records, of edited ones the remote's state. What was withheld before is no news.
  func isAnyFreed(
    by changes: StoreChanges, of type: RecordType, besides withheld: [RecordID: WithheldChange],
    in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    guard values[type] != nil else { return false }
    var news = changes.put.map(RecordChange.upsert)
    // Whether a missing record is deleted is not known yet.
    for entry in changes.withheld where entry.kind != .missing {
      if let id = entry.change.id, withheld[id] == nil { news.append(entry.change) }
    }
    let ids = news.compactMap(\.id)
    let edits = try snapshot.edits(of: ids)
    return zip(news, zip(ids, try snapshot.records(withIDs: ids))).contains { change, row in
      let former = edits[row.0].map(\.base.record) ?? row.1
      return former.map { isFreed(by: change, over: .upsert($0)) } ?? false
    }
  }

  /// Whether a change takes a value from the copy before it.
  func isFreed(by change: RecordChange, over former: RecordChange) -> Bool {
    guard case .upsert(let former) = former, let values = values[former.id.type] else { return false }
    let names = Array(values.keys)
    guard let old = try? former.payload.values(of: names) else { return false }
    let new: [FieldValue]
    switch change {
    case .upsert(let copy):
      guard let members = try? copy.payload.values(of: names) else { return false }
      new = members
    case .tombstone: new = names.map { _ in .null }
    case .malformed: return false
    }
    return names.enumerated().contains { place, name in
      old[place] != new[place] && values[name]?.contains(old[place]) ?? false
    }
  }
}

extension OutboxEntry {
  /// Whether the remote has refused the edit, and may accept it once other records have changed.
  var mayBeAccepted: Bool { isDecidedByTheRemote && !EditFailure.isReason(of: self) }

  /// Whether the remote has refused the edit, or failed at it, and the app does not hold it back.
  var isDecidedByTheRemote: Bool { isRefused && sent == nil && !isHeldByTheApp }

  /// Whether the remote has refused the edit.
  var isRefused: Bool { if case .refused = state { true } else { false } }
}
