import CanonicalSync
import InMemoryAdapters
import Testing

@testable import SyncCore

@Suite("A record's age", .timeLimit(.minutes(10)))
struct CleanupAgeTests {
  private static let year = Duration.seconds(365 * 86_400)

  @Test func isNoneWhereTheRemoteStatesNoModificationTime() async throws {
    let source = ListedPages(pageSize: 3, versions: [0], [("t1", "{}"), ("t2", "{}")])
    let store = InMemoryStore()
    let schema = try SyncSchema(Entity("teams"))
    let engine = try await SyncEngine(schema: schema, store: store, source: source, clock: ManualClock())
    _ = try await engine.sync()
    let report = try await engine.cleanUp(
      CleanupPolicy([.hide("teams", olderThan: Self.year, by: .modification)]))
    #expect(report.hidden["teams"] == 0)
    #expect(store.records(of: "teams").count == 2)
  }

  @Test func isNoneWhereTheFieldHoldsNoDateOrNoTime() async throws {
    let world = try await World([Entity("notes", indexes: ["date", "at"])])
    let undated = [
      "", "+12026-01-01", "-2024-01-01", "12026-01-01", "20240101", "2024-W05-1", "2024-123", "2024-02-30",
      "2023-02-29", "2024-13-01", "2024-1-01x", "2024-01-01x", "1 January 2024",
    ]
    for (n, date) in undated.enumerated() {
      world.remote.upsert("notes", "n\(n)", #"{"date":"\#(date)","at":0}"#)
    }
    _ = try await world.engine.sync()
    let policy = CleanupPolicy([
      .hide("notes", olderThan: Self.year, by: .date("date")),
      .hide("notes", olderThan: Self.year, by: .seconds("at")),
      .hide("notes", olderThan: Self.year, by: .milliseconds("at")),
    ])
    #expect(try await world.engine.cleanUp(policy).hidden["notes"] == 0)
    #expect(world.keys("notes").count == undated.count)
  }

  @Test func isToldByADayWithOrWithoutATime() {
    for day in ["2024-02-29", "2000-02-29", "2024-12-31T23:59:59Z", "2024-12-31 23:59", "0001-01-01"] {
      #expect(day.beginsWithCivilDay, "\(day)")
    }
    for other in ["1900-02-29", "2024-00-01", "2024-01-00", "2024-01-32", "2024/01/01", "٢٠٢٤-01-01"] {
      #expect(!other.beginsWithCivilDay, "\(other)")
    }
  }
}
