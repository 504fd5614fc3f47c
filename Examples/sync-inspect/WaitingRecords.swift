import CanonicalSync
import SyncAdapters

/// The records that wait for records that they refer to, grouped by those.
struct WaitingRecords: Sendable {
  /// A record that others wait for.
  struct Group: Sendable {
    /// The record that is not visible.
    var missing: RecordID
    /// Why it is not visible.
    var cause: Cause
    /// The number of records that wait for it.
    var count = 0
    /// The first of them.
    var examples: [RecordID] = []
    /// When the first of them came.
    var since: Timestamp
  }

  /// Why a record is not visible.
  enum Cause: String, Sendable {
    /// The remote has never sent it.
    case notReceived, deleted, malformed, newerSchema, waiting, hidden, unpublished

    /// The cause, for a person.
    var words: String {
      switch self {
      case .notReceived: "was never received"
      case .deleted: "is deleted"
      case .malformed: "is malformed"
      case .newerSchema: "needs a newer version of the app"
      case .waiting: "waits itself"
      case .hidden: "was hidden by a clean-up"
      case .unpublished: "is in a pass that has not ended"
      }
    }
  }

  /// The groups, that with the most records first.
  var groups: [Group] = []
  /// The number of records that wait.
  var count = 0

  /// Groups the waiting records of some types.
  ///
  /// - Parameter examples: The most records that a group names.
  /// - Complexity: O(*n* log *m*) for *n* waiting records, in a store of *m*.
  static func gather(
    _ types: [RecordType], examples: Int = shownExamples, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> WaitingRecords {
    var found = WaitingRecords()
    var groups: [RecordID: Group] = [:]
    for type in types {
      var after: WithheldChange.Key?
      repeat {
        let entries = try snapshot.portion(withheld: type, [.parked], after: after, limit: 500)
        for entry in entries {
          found.count += 1
          for missing in entry.waitsFor {
            var group = groups[missing] ?? Group(missing: missing, cause: .notReceived, since: entry.since)
            group.count += 1
            group.since = min(group.since, entry.since)
            if group.examples.count < examples, let id = entry.change.id { group.examples.append(id) }
            groups[missing] = group
          }
        }
        after = entries.last?.key
      } while after != nil
    }
    found.groups = groups.values.sorted { ($1.count, $0.missing) < ($0.count, $1.missing) }
    for index in found.groups.indices {
      found.groups[index].cause = try cause(of: found.groups[index].missing, in: snapshot)
    }
    return found
  }

  private static func cause(of id: RecordID, in snapshot: any StoreSnapshot) throws(SyncError) -> Cause {
    if let entry = try snapshot.withheld(for: [.record(id)]).first {
      switch entry.kind {
      case .quarantined: return .malformed
      case .incompatible: return .newerSchema
      case .parked: return .waiting
      case .hidden: return .hidden
      case .staged: return .unpublished
      case .held, .missing: break
      }
    }
    return try snapshot.state(of: id)?.isDeleted == true ? .deleted : .notReceived
  }
}
