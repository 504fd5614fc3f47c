import CRecords
import CanonicalSync
import SyncAdapters

/// One of several servers that answer from a store, for some seconds.
///
/// `serving` reads single records by id, `finding` reads them as a type of the app's, and `listing`
/// reads twenty records by an index.
struct Serving {
  let options: Options
  private static let seconds = 4

  /// A record as an app declares it.
  private struct Game: SyncedRecord {
    static let recordType: RecordType = "games"
    let id: String
    let updatedAt: Int64
    let homeId: String
    let awayId: String
    let venue: Int
    let startsAt: Int64
    let status: String
    let homeScore: Int
    let awayScore: Int
    let attendance: Int
    let isNeutral: Bool
    let note: String

    enum CodingKeys: String, CodingKey {
      case id, venue, status, attendance, note
      case updatedAt = "updated_at"
      case homeId = "home_id"
      case awayId = "away_id"
      case startsAt = "starts_at"
      case homeScore = "home_score"
      case awayScore = "away_score"
      case isNeutral = "is_neutral"
    }
  }

  func run() async throws -> Measurement {
    let (store, close) = try await options.openStore()
    let schema = try SyncSchema(options.entities())
    try await store.register(schema)
    let records = LocalRecords(store: store, schema: schema)
    let workload = options.workload
    let venues = record_venues(options.recipe)
    let keys = (0..<1000).map { place -> String in
      var record = record()
      record_make(options.recipe, Int64(place) * options.recipe.count / 1000, 0, &record)
      return withUnsafeBytes(of: record.id) { String(decoding: $0.prefix(36), as: UTF8.self) }
    }
    var measurement = Measurement()
    let end = ContinuousClock.now + .seconds(Self.seconds)
    let times = try await withThrowingTaskGroup(of: [Duration].self) { tasks in
      for first in 0..<(options.readers > 0 ? options.readers : 6) {
        tasks.addTask {
          var place = first * 100
          var times: [Duration] = []
          var start = ContinuousClock.now
          while start < end {
            let key = keys[place % keys.count]
            let isThere =
              switch workload {
              case "finding": try await records.find(Game.self, key: key) != nil
              case "listing": try await Self.list(of: Int64(place) % venues, in: store) == 20
              default:
                try await store.read { snapshot throws(SyncError) in
                  try snapshot.records(withIDs: [RecordID(type: "games", key: key)])[0] != nil
                }
              }
            guard isThere else { throw Options.Usage(message: "\(key) is missing") }
            place += 1
            let now = ContinuousClock.now
            times.append(now - start)
            start = now
          }
          return times
        }
      }
      return try await tasks.reduce(into: []) { $0 += $1 }
    }
    measurement.end(records: times.count)
    measurement.extra = [("p99", times.sorted()[times.count * 99 / 100] / .seconds(1))]
    await close()
    return measurement
  }

  /// Reads what a typed list reads, without decoding it, and returns the number of records.
  private static func list(of venue: Int64, in store: any LocalStore) async throws -> Int {
    let query = Query("games", where: .equal("venue", .integer(venue)), limit: 20)
    return try await store.read { snapshot throws(SyncError) in
      let records = try snapshot.records(query)
      return try snapshot.counts("games", rows: false).pending == 0 ? records.count : 0
    }
  }
}
