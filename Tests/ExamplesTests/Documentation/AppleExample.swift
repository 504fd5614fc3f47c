#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import SyncObservation

  // The code of Docs/ComingFromApple.md.

  // @Model final class Trip
  struct Trip: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "trips"
    static let start = Field<Trip, Date>("start")  // for #Predicate and SortDescriptor
    var id: String
    var name: String
    var start: Date
  }

  private func fromApple(source: any RemoteRecordSource, sink: any RemoteRecordSink) async throws {
    // ModelContainer, with its relationships, and the database of CloudKit
    let schema = try SyncSchema(
      Entity("trips", indexes: ["start"]), Entity("stops", references: [.to("trips", by: "trip")]))
    let store = try await SQLiteStore.open(path: "trips.sqlite")
    let engine = try await SyncEngine(schema: schema, store: store, source: source, sink: sink)

    // NSPersistentCloudKitContainer decides when to sync; here a coordinator does
    let coordinator = SyncCoordinator(engine: engine)
    coordinator.launch()
    let syncing = Task { await coordinator.run() }

    // context.insert, context.save
    try await engine.edits.upsert(Trip(id: UUID().uuidString, name: "Oslo", start: .now))

    // @Query(filter: #Predicate { $0.start >= now }, sort: \.start)
    let coming = engine.records.observe(
      Trip.self, where: Trip.start >= .now, order: [.ascending(Trip.start)])
    let printing = Task { for try await trips in coming { print(trips.map(\.name)) } }
    printing.cancel()
    syncing.cancel()
    await show(engine)
  }

  @MainActor private func show(_ engine: SyncEngine) async {
    // In a view, which is drawn again when `trips.records` changes
    let trips = LiveQuery(engine.records.observe(Trip.self, order: [.ascending(Trip.start)]))
    let showing = Task { await trips.follow() }  // in a view: .task { await trips.follow() }
    await showing.value
  }
#endif
