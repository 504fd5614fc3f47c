import CRecords
import CanonicalSync
import Dispatch
import Foundation
import SQLiteAdapters
import SyncAdapters

/// Reads 1,000 records of 15 members as an app's type, by an index: `Typed PATH [raw]`.
///
/// Instructions are counted for the second read; `raw` reads the records without decoding them. It is
/// a program of its own because it needs Foundation, which makes the start of a program longer.
@main
struct Typed {
  // An asynchronous `main` ends the first thread, which valgrind does not survive. So that thread
  // waits here.
  static func main() {
    let isOver = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        let arguments = CommandLine.arguments
        let count = try await Typed().run(at: arguments[1], isRaw: arguments.count > 2)
        print("\(count) records")
      } catch {
        print(error)
        exit(1)
      }
      isOver.signal()
    }
    isOver.wait()
  }

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

  func run(at path: String, isRaw: Bool) async throws -> Int {
    let store = try await SQLiteStore.open(path: path, configuration: .init(executor: .inline))
    let entity = Entity("matches", indexes: ["venue"])
    let schema = try SyncSchema(entity)
    try await store.register(schema)
    try await store.write(.app) { (transaction) throws(SyncError) in
      var changes = StoreChanges()
      for number in 0..<1000 { changes.put.append(try Self.record(number, of: entity)) }
      try transaction.apply(changes)
    }
    let records = LocalRecords(store: store, schema: schema)
    func read() async throws -> Int {
      let condition = Condition.equal("venue", .integer(7))
      if !isRaw { return try await records.filter(Match.self, where: condition).complete().count }
      return try await store.read { (snapshot) throws(SyncError) in
        try snapshot.records(Query("matches", where: condition)).count
      }
    }
    _ = try await read()
    process_count(1)
    let count = try await read()
    process_count(0)
    await store.close()
    return count
  }

  private static func record(_ number: Int, of entity: Entity) throws(SyncError) -> Record {
    let text = """
      {"id":"m\(number)","home":"Home team \(number)","away":"Away team \(number)","venue":7,"status":"final",\
      "homeScore":\(number % 9),"awayScore":\(number % 7),"attendance":\(10_000 + number),"isNeutral":false,\
      "rating":4.25,"note":"A note about match \(number)","startsAt":"2026-04-01T18:00:00Z",\
      "page":"https://league.example.com/matches/\(number)","price":19.90,\
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
