import InMemoryAdapters
import SyncModels
import SyncPorts

/// The sink of a remote that refuses two teams with one badge.
struct UniqueValuesSink: ForwardingSink {
  let base: any RemoteRecordSink
  let remote: InMemoryRemote
  let keys: AssignedKeys

  static let reason = "Another team has this badge."

  var appliesGroups: Bool { false }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    var outcomes: [PushOutcome] = []
    for change in changes {
      if isTaken(change) {
        outcomes.append(.refused(reason: Self.reason))
      } else {
        outcomes += try await base.push([change], entities: entities)
      }
    }
    return outcomes
  }

  private func isTaken(_ change: OutgoingChange) -> Bool {
    // A record that the remote has made before it is asked again has its own value.
    guard keys.id(of: change.id) == nil,
      let badge = change.content.payload.flatMap({ Badge(of: change.id, in: $0) })
    else { return false }
    return remote.records(of: change.id.type).contains { key, payload in
      key != change.id.key && Badge(of: RecordID(type: change.id.type, key: key), in: payload) == badge
    }
  }
}

/// The value that no two teams share at a remote.
struct Badge: Hashable {
  static let field: FieldName = "badge"
  private var value: FieldValue

  /// The value as JSON, if it is a whole number.
  var json: String? { if case .integer(let number) = value { "\(number)" } else { nil } }

  /// The badge of a record; `nil` for one without.
  init?(of id: RecordID, in payload: Payload) {
    guard id.type == "teams", let value = try? payload.values(of: [Self.field]).first, value != .null else {
      return nil
    }
    self.value = value
  }
}
