import SyncModels
import SyncPorts

/// Pending edits that the remote has to apply together or not at all.
///
/// Each record of a group has the group under a key of its own. Its other edits, before the push or
/// while that is under way, belong to the group as well. A record leaves when its edit is over.
struct AtomicGroup: Hashable, Sendable, Codable {
  /// The records, in order.
  var members: [RecordID]
  /// Those of them that joined while edits of the others were on their way to the remote.
  ///
  /// They wait for the answer to those edits.
  var late: Set<RecordID> = []

  /// Returns the entries to send together now.
  ///
  /// What was sent without an answer is sent again, together with the rest of its group.
  func toSend(_ entries: [OutboxEntry]) -> [OutboxEntry] {
    let early = entries.filter { !late.contains($0.id) || $0.sent != nil }
    return early.contains { $0.sent != nil } ? early : entries
  }

  static func key(_ id: RecordID) -> ValueKey<AtomicGroup> { ValueKey(.groups, "\(id)") }
}

extension StoreSnapshot {
  /// Whether any pending edit belongs to a group.
  func hasAtomicGroups() throws(SyncError) -> Bool {
    try !keys(withPrefix: ValueFamily.groups.rawValue, after: nil, limit: 1).isEmpty
  }

  /// Returns the group of a record's pending edit.
  func atomicGroup(of id: RecordID) throws(SyncError) -> AtomicGroup? {
    try value(of: AtomicGroup.key(id))
  }
}

extension StoreTransaction {
  /// Joins the pending edits of some records, and the groups that they belong to.
  func joinAtomically(_ ids: [RecordID]) throws(SyncError) {
    var members = Set(try outbox(for: ids).map(\.id))
    guard members.count > 1 else { return }
    var late: Set<RecordID> = []
    for id in members.sorted() {
      guard let group = try atomicGroup(of: id) else { continue }
      members.formUnion(group.members)
      late.formUnion(group.late)
    }
    let entries = try outbox(for: members.sorted())
    if entries.contains(where: { $0.sent != nil }) {
      for entry in entries where entry.sent == nil {
        if try atomicGroup(of: entry.id) == nil { late.insert(entry.id) }
      }
    }
    try set(AtomicGroup(members: members.sorted(), late: late))
  }

  /// Removes edits from the outbox that are over, and from their groups.
  func endEdits(_ ids: [RecordID]) throws(SyncError) {
    try dequeue(ids)
    try leaveGroups(ids)
  }

  /// Takes records out of their groups. A group of one is none.
  func leaveGroups(_ ids: [RecordID]) throws(SyncError) {
    guard !ids.isEmpty, try hasAtomicGroups() else { return }
    for id in ids {
      guard var group = try atomicGroup(of: id) else { continue }
      try remove(AtomicGroup.key(id))
      group.members.removeAll { $0 == id }
      group.late.remove(id)
      try set(group)
    }
  }

  /// Gives the places of a rebuild's losers in their groups to the winner, as it has inherited their edits.
  ///
  /// A deletion that waits for the winner would otherwise keep the winner waiting for it. An edit that
  /// may have arrived keeps its place until its answer.
  func passOnPlaces(of losers: [OutboxEntry], to winner: RecordID) throws(SyncError) {
    for loser in losers where try atomicGroup(of: loser.id) != nil {
      try joinAtomically([winner, loser.id])
      if loser.sent == nil { try leaveGroups([loser.id]) }
    }
  }

  /// Refuses the other edits of groups in which the remote has won over an edit, or the app has forgotten one.
  ///
  /// They would otherwise be applied without it. The app decides what becomes of them.
  ///
  /// - Returns: The refused edits, with the reasons.
  @discardableResult
  func breakGroups(
    of lost: [RecordID], isForgotten: Bool = false, at now: Timestamp
  ) throws(SyncError) -> [(id: RecordID, reason: String)] {
    guard !lost.isEmpty, try hasAtomicGroups() else { return [] }
    var refused: [(id: RecordID, reason: String)] = []
    for id in lost {
      guard let group = try atomicGroup(of: id) else { continue }
      let others = group.members.filter { $0 != id }
      for member in group.members { try remove(AtomicGroup.key(member)) }
      var entries = try outbox(for: others)
      let reason = OutboxEntry.reasonWithout(id, isForgotten: isForgotten)
      for place in entries.indices where !entries[place].isHeldByTheApp {
        entries[place].state = .refused(reason: reason, at: now)
        refused.append((entries[place].id, reason))
      }
      try queue(entries)
    }
    return refused
  }

  private func set(_ group: AtomicGroup) throws(SyncError) {
    for member in group.members {
      if group.members.count > 1 {
        try set(group, for: AtomicGroup.key(member))
      } else {
        try remove(AtomicGroup.key(member))
      }
    }
  }
}

extension OutboxEntry {
  private static let brokenGroup = "Its atomic group is broken: "

  /// Why an edit is not sent without another one of its group.
  fileprivate static func reasonWithout(_ id: RecordID, isForgotten: Bool) -> String {
    isForgotten
      ? "\(brokenGroup)the edit of \(id) that belongs to it was forgotten."
      : "\(brokenGroup)the remote's state of \(id) has won over the edit that belongs to it."
  }

  /// Whether the edit waits for the app, because another one of its group has lost.
  package var isOfBrokenGroup: Bool {
    if case .refused(let reason, _) = state { reason.hasPrefix(Self.brokenGroup) } else { false }
  }
}
