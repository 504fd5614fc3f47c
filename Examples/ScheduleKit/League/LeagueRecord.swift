import CanonicalSyncToolSupport
import InMemoryAdapters

/// A record of the built-in schedule, in its form at a remote.
struct LeagueRecord: Hashable, Sendable {
  let type: String
  let id: String
  /// Milliseconds since 1970.
  let updatedAt: Int64
  /// The whole record: `id`, its fields, `updated_at`.
  let json: String
}

/// Makes the records of one type, each with its own modification time.
struct LeagueRecordMaker {
  private let type: String
  private var random: SplitMix64
  private(set) var records: [LeagueRecord] = []

  init(_ type: String) {
    self.type = type
    random = SplitMix64(named: type)
  }

  mutating func add(_ id: String, _ fields: [(key: String, value: JSON)]) {
    // A time in the autumn before the season, to the millisecond: 2025-09-01 and 90 days.
    let updatedAt = 1_756_684_800_000 + random.number(below: 90 * 86_400_000)
    let members =
      [(key: "id", value: JSON.string(id))] + fields + [(key: "updated_at", value: .integer(updatedAt))]
    records.append(
      LeagueRecord(type: type, id: id, updatedAt: Int64(updatedAt), json: JSON.object(members).compact))
  }
}
