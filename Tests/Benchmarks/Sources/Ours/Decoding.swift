import CRecords
import CanonicalSync
import Foundation
import SQLiteAdapters
import SyncAdapters

/// Reads 1,000 records of 15 members as an app's type, by an index.
///
/// `decoding` counts the second read. `decoding-raw` reads the records without decoding them.
struct Decoding {
  let options: Options

  private struct Place: Codable, Sendable {
    let hall: String
    let row: Int
    let isCovered: Bool
  }

  private struct Match: SyncedRecord {
    static let recordType: RecordType = "matches"
    let id: String
    let home: String
    let away: String
    let venue: Int
    let status: String
    let homeScore: Int
    let awayScore: Int
    let attendance: Int
    let isNeutral: Bool
    let rating: Double
    let note: String?
    let startsAt: Date
    let page: URL
    let price: Decimal
    let place: Place
  }

  func run() async throws -> Measurement {
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let entity = Entity("matches", indexes: ["venue"])
    let schema = try SyncSchema(entity)
    try await store.register(schema)
    try await store.write(.app) { (transaction) throws(SyncError) in
      var changes = StoreChanges()
      for number in 0..<1000 { changes.put.append(try Self.record(number, of: entity)) }
      try transaction.apply(changes)
    }
    let records = LocalRecords(store: store, schema: schema)
    _ = try await read(records, store)
    process_count(1)
    var measurement = Measurement()
    measurement.end(records: try await read(records, store))
    process_count(0)
    await store.close()
    return measurement
  }

  private func read(_ records: LocalRecords, _ store: SQLiteStore) async throws -> Int {
    let condition = Condition.equal("venue", .integer(7))
    if options.workload == "decoding" {
      return try await records.filter(Match.self, where: condition).complete().count
    }
    return try await store.read { (snapshot) throws(SyncError) in
      try snapshot.records(Query("matches", where: condition)).count
    }
  }

  private static func record(_ number: Int, of entity: Entity) throws(SyncError) -> Record {
    let text = """
      {"id":"m\(number)","home":"Home team \(number)","away":"Away team \(number)","venue":7,"status":"final",\
      "homeScore":\(number % 9),"awayScore":\(number % 7),"attendance":\(10_000 + number),"isNeutral":false,\
      "rating":4.25,"note":"A note about match \(number)","startsAt":"2026-04-01T18:00:00Z",\
      "page":"https://league.example.com/matches/\(number)","price":"19.90",\
      "place":{"hall":"North","row":\(number % 40),"isCovered":true}}
      """
    let payload = Payload(Array(text.utf8)[...])
    do {
      return Record(
        id: RecordID(type: "matches", key: "m\(number)"),
        version: Version(modifiedAt: Timestamp(milliseconds: 1)), payload: payload,
        fields: try entity.fields(of: payload))
    } catch {
      throw SyncError(.inconsistentData, during: "making records", "\(error)")
    }
  }
}
