import SyncJSON
public import SyncModels
public import SyncPorts

/// A store's knowledge of one record, whether the record is shown or not.
public struct Explanation: Sendable {
  /// The record.
  public var id: RecordID
  /// The copy that readers see.
  public var live: Record?
  /// The last remote state that was applied; `nil` for an unknown record.
  public var state: StoredState?
  /// The record's withheld changes.
  public var withheld: [WithheldChange]
  /// The local edit that the remote has not acknowledged, with what it waits for.
  public var waiting: PendingEdit?
  /// The local edit that the remote has not acknowledged.
  public var pending: OutboxEntry? { waiting?.entry }

  /// Reads a store's knowledge of a record, from one snapshot.
  ///
  /// - Complexity: O(log *m* + *q*) for a type of *m* records and *q* quarantined entries.
  public static func load(_ id: RecordID, from store: any LocalStore) async throws(SyncError) -> Explanation {
    try await store.read { (snapshot) throws(SyncError) in
      let id = try snapshot.current(id)
      let pending = try snapshot.outbox(for: [id])
      let entity = pending.isEmpty ? nil : try snapshot.registeredEntities().first { $0.type == id.type }
      return Explanation(
        id: id, live: try snapshot.records(withIDs: [id]).first ?? nil, state: try snapshot.state(of: id),
        withheld: try snapshot.withheld(for: [.record(id)]) + quarantined(as: id, in: snapshot),
        waiting: try PendingEdit.read(pending, of: entity, in: snapshot).first)
    }
  }
}

extension Explanation {
  /// Returns the record's quarantined changes that are kept under other keys.
  ///
  /// It searches the type's whole quarantine.
  private static func quarantined(
    as id: RecordID, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [WithheldChange] {
    guard try snapshot.withheldCounts(id.type)[.quarantined, default: 0] > 0 else { return [] }
    var found: [WithheldChange] = []
    var portions = snapshot.portions(withheld: id.type, [.quarantined])
    while let entries = try portions.next() {
      found += entries.filter { $0.key != .record(id) && $0.change.id == id }
    }
    return found
  }
}

extension Explanation: CustomStringConvertible {
  /// The explanation in a few lines, without the record's contents.
  public var description: String {
    var lines: [String] = []
    if let live {
      lines.append("\(id) is live, at version \(live.version), \(live.payload).")
    } else if pending?.edit.content == .deletion {
      lines.append("\(id) was deleted here.")
    } else if withheld.contains(where: { $0.kind == .hidden }) {
      lines.append("\(id) is hidden here, and the remote still has it.")
    } else if let state, state.isDeleted {
      lines.append("\(id) was deleted at the remote, as of version \(state.version).")
    } else if withheld.isEmpty {
      lines.append("\(id) is unknown to this store.")
    } else {
      lines.append("\(id) is not live.")
    }
    if let waiting { lines.append(waiting.sentence) }
    for entry in withheld {
      lines.append(
        "It has a withheld change, \(entry.kind.rawValue), since pass \(entry.pass): \(entry.reason).")
      if !entry.waitsFor.isEmpty {
        lines.append("It waits for \(entry.waitsFor.map(\.description).joined(separator: ", ")).")
      }
    }
    return lines.joined(separator: "\n")
  }
}

extension PendingEdit {
  /// The state of the edit, without its contents.
  fileprivate var sentence: String {
    let edit = entry.edit.content == .deletion ? "Its deletion" : "A local edit of it"
    let base = entry.base.version.map { "on top of version \($0)" } ?? "of a record that the remote never had"
    return switch wait {
    case .answer: "\(edit), \(base), was sent, and is sent again until the remote answers."
    case .push: "\(edit), \(base), waits for the next push."
    case .time(let until): "\(edit), \(base), was postponed by the remote until \(until)."
    case .release: "\(edit), \(base), is kept as a draft by the app."
    case .room: "\(edit), \(base), waits for room at the remote."
    // Quoted, so that no byte of the remote's text can affect a terminal or a log.
    case .change(let reason):
      "\(edit), \(base), was refused by the remote: \(String(decoding: JSONString.quoted(reason), as: UTF8.self))"
    case .records(_, let reason): "\(edit), \(base), waits for other records: \(reason)."
    case .upgrade(let reason): "\(edit), \(base), waits for an update of the app: \(reason)."
    }
  }
}
