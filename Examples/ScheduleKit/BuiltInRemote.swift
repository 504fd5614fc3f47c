import CanonicalSync
import InMemoryAdapters
import SyncAdapters

/// The built-in schedule as a remote: a small server in this process.
///
/// It is the same in every run.
enum BuiltInRemote {
  static let layout = RecordLayout(modifiedAt: "updated_at")

  /// Creates a server that has the whole schedule.
  ///
  /// The bundled records were written first, so the tokens in the bundle tell where the rest
  /// begins.
  static func make() -> InMemoryRemote {
    let remote = makeBundled()
    for type in LeagueSchedule.types {
      let bundled = Set(BootstrapDocument.records(of: type).map(\.id))
      add(LeagueSchedule.records(of: type).filter { !bundled.contains($0.id) }, to: remote)
    }
    return remote
  }

  /// The token of each type at the time of the bundle.
  static func bundledTokens() async throws(SyncError) -> [String: String] {
    let remote = makeBundled()
    var tokens: [String: String] = [:]
    for entity in ScheduleTypes.entities {
      let request = PageRequest(entity: entity, position: .start(since: nil), limit: 1, pass: 1)
      tokens[entity.type.rawValue] = try await remote.page(request).startToken?.rawValue
    }
    return tokens
  }

  /// Creates the server in its state at the time of the bundle.
  private static func makeBundled() -> InMemoryRemote {
    let remote = InMemoryRemote(identity: "built-in-schedule")
    for type in LeagueSchedule.types { add(BootstrapDocument.records(of: type), to: remote) }
    return remote
  }

  private static func add(_ records: [LeagueRecord], to remote: InMemoryRemote) {
    for record in records {
      remote.upsert(
        RecordType(record.type), record.id, record.json,
        modifiedAt: Timestamp(milliseconds: record.updatedAt))
    }
  }
}
