import CanonicalSync
import CanonicalSyncToolSupport

extension Stage {
  /// The conflict logs of both devices, the oldest conflict first.
  func conflicts() async throws(SyncError) -> JSON {
    var entries: [JSON] = []
    for device in [a, b] {
      for conflict in try await device.engine.edits.conflicts().reversed() {
        let remote: Payload? = if case .upsert(let record) = conflict.remote { record.payload } else { nil }
        entries.append([
          "device": .string(device.name), "id": .string(conflict.id.description),
          "winner": .string(conflict.winner.rawValue), "reason": .string(conflict.reason),
          "local": Self.name(in: conflict.local.content.payload), "remote": Self.name(in: remote),
        ])
      }
    }
    return .array(entries)
  }

  private static func name(in payload: Payload?) -> JSON {
    guard let payload, case .string(let name)? = try? payload.values(of: ["name"]).first else { return .null }
    return .string(name)
  }
}
