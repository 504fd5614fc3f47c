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
        try transaction.makeDue(pending.type, where: \.mayBeAccepted)
      }
      if isAny { reconsidered.append(pending) }
    }
    return reconsidered
  }
}

extension StoreTransaction {
  /// Makes the next push send some edits of a type, whatever they wait for.
  ///
  /// - Returns: Whether there are such edits.
  func makeDue(
    _ type: RecordType, where isChosen: (OutboxEntry) -> Bool
  ) throws(SyncError) -> Bool {
    var isAny = false
    var portions = self.portions(outbox: type)
    while let entries = try portions.next() {
      let chosen = entries.filter(isChosen)
      if chosen.isEmpty { continue }
      isAny = true
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
    return isAny
  }
}

/// The texts and numbers that refused edits of a type give their records, each of which another record
/// may have, and the remote accepts once.
final class NeededValues: Sendable {
  private let type: RecordType
  private let values: [FieldName: Set<FieldValue>]

  /// Reads the refused edits of a type; `nil` if they need nothing.
  ///
  /// - Complexity: O(*n*) in the type's pending edits.
  init?(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) {
    guard try snapshot.outboxCount(type) > 0 else { return nil }
    var values: [FieldName: Set<FieldValue>] = [:]
    var portions = snapshot.portions(outbox: type)
    while let entries = try portions.next() {
      for entry in entries where entry.mayBeAccepted {
        for (name, value) in Self.values(of: entry) { values[name, default: []].insert(value) }
      }
    }
    if values.isEmpty { return nil }
    (self.type, self.values) = (type, values)
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

  /// Whether one of some copies ends with another value where its record has one of these.
  ///
  /// It reads the records.
  func isAnyFreed(by copies: [Record], in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    if copies.first?.id.type != type { return false }
    return zip(copies, try snapshot.records(withIDs: copies.map(\.id))).contains { copy, former in
      former.map { isFreed(from: $0.payload, to: copy.payload) } ?? false
    }
  }

  /// Whether a change takes one of these values from the withheld change before it.
  func isFreed(by change: RecordChange, over withheld: RecordChange) -> Bool {
    guard case .upsert(let former) = withheld, former.id.type == type else { return false }
    guard case .upsert(let copy) = change else { return true }
    return isFreed(from: former.payload, to: copy.payload)
  }

  private func isFreed(from former: Payload, to payload: Payload) -> Bool {
    let names = Array(values.keys)
    guard let old = try? former.values(of: names), let new = try? payload.values(of: names) else {
      return false
    }
    return names.enumerated().contains { place, name in
      old[place] != new[place] && values[name]?.contains(old[place]) ?? false
    }
  }
}

extension OutboxEntry {
  /// Whether the remote has refused the edit, and may accept it once other records have changed.
  var mayBeAccepted: Bool { isRefused && sent == nil && !EditFailure.isReason(of: self) && !isHeldByTheApp }

  /// Whether the remote has refused the edit.
  var isRefused: Bool { if case .refused = state { true } else { false } }
}
