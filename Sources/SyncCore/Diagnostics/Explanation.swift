public import SyncModels
public import SyncPorts

/// What a store knows of one record, shown or not: where it went, if it is not where it was expected.
public struct Explanation: Sendable {
  /// The record.
  public var id: RecordID
  /// The copy that readers see.
  public var live: Record?
  /// What the remote said last, as far as it was applied; `nil` for a record never heard of.
  public var state: StoredState?
  /// What is kept without being shown.
  public var setAside: [SetAside]

  /// Reads what a store knows of a record, from one snapshot.
  ///
  /// - Complexity: O(log *m* + *q*) for a type of *m* records and *q* quarantined entries.
  public static func load(_ id: RecordID, from store: any LocalStore) async throws(SyncError) -> Explanation {
    try await store.read { (snapshot) throws(SyncError) in
      Explanation(
        id: id, live: try snapshot.records(withIDs: [id]).first ?? nil, state: try snapshot.state(of: id),
        setAside: try snapshot.setAside(for: [.record(id)]) + quarantined(as: id, in: snapshot))
    }
  }
}

extension Explanation {
  /// What is quarantined of a record beside the entry under its id, found by looking through the type's quarantine.
  private static func quarantined(
    as id: RecordID, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [SetAside] {
    guard try snapshot.setAsideCounts(id.type)[.quarantined, default: 0] > 0 else { return [] }
    var found: [SetAside] = []
    var last: SetAside.Key?
    while true {
      let entries = try snapshot.setAside(id.type, kinds: [.quarantined], after: last, limit: 400)
      guard let end = entries.last else { return found }
      last = end.key
      found += entries.filter { $0.key != .record(id) && $0.change.id == id }
    }
  }
}

extension Explanation: CustomStringConvertible {
  /// The story in a few lines, without the record's contents.
  public var description: String {
    var lines: [String] = []
    if let live {
      lines.append("\(id) is live, at version \(live.version), \(live.payload).")
    } else if let state, state.isDeleted {
      lines.append("\(id) was deleted at the remote, as of version \(state.version).")
    } else if setAside.isEmpty {
      lines.append("\(id) was never heard of.")
    } else {
      lines.append("\(id) is not live.")
    }
    for entry in setAside {
      lines.append(
        "It has a change set aside, \(entry.kind.rawValue), since pass \(entry.pass): \(entry.reason).")
      if !entry.waitsFor.isEmpty {
        lines.append("It waits for \(entry.waitsFor.map(\.description).joined(separator: ", ")).")
      }
    }
    return lines.joined(separator: "\n")
  }
}
