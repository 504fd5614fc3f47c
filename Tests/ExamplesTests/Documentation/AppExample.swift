import CanonicalSync
import Foundation
import SyncAdapters

// The code of Docs/FirstApp.md: the app.

/// A place where concerts are.
struct Venue: SyncedRecord, Codable, Identifiable {
  static let recordType: RecordType = "venues"
  var id: String
  var name: String
}

/// A concert, as the box office and the web shop both edit it.
struct Concert: SyncedRecord, Codable, Identifiable, Equatable {
  static let recordType: RecordType = "concerts"
  static let startsAt = Field<Concert, Date>("startsAt")
  static let seats = Field<Concert, Int>("seats")

  var id: String
  var venue: String
  var startsAt: Date
  var tickets: URL?
  var price: Decimal
  var seats: Int
}

/// Fewer free seats win, so that no seat is sold twice.
///
/// If both sides have equally many, the later write wins.
struct FewerSeats: MergePolicy {
  static let reasons: Set<String> = [
    "fewer seats are free", "the local edit was written last", "the remote state was written last",
  ]

  func settle(_ conflict: MergeConflict) -> MergeResolution {
    guard let here = seats(conflict.local, conflict), let there = seats(conflict.remote, conflict),
      here != there
    else { return LastWriteWins().settle(conflict) }
    return here < there
      ? .local(reason: "fewer seats are free") : .remote(reason: "fewer seats are free")
  }

  private func seats(_ side: StampedValue, _ conflict: MergeConflict) -> Int? {
    guard conflict.id.type == Concert.recordType else { return nil }
    // A copy that does not decode says nothing of seats.
    return try? side.content?.decoded(as: Concert.self, key: conflict.id.key).seats
  }
}

/// The box office's concerts: on this device at once, at the remote with the next sync.
struct BoxOffice: Sendable {
  let engine: SyncEngine

  static func schema() throws(SyncError) -> SyncSchema {
    try SyncSchema(
      Entity("venues"),
      Entity("concerts", references: [.to("venues", by: "venue")], indexes: ["startsAt"]))
  }

  init(
    store: any LocalStore, source: any RemoteRecordSource, sink: any RemoteRecordSink
  ) async throws(SyncError) {
    engine = try await SyncEngine(
      schema: Self.schema(), store: store, source: source, sink: sink,
      edits: EditOptions(policies: ["concerts": FewerSeats()]))
  }

  /// Follows the concerts from a date on that have free seats, the first one first.
  func upcoming(from start: Date) -> RecordUpdates<Concert> {
    engine.records.observe(
      Concert.self, where: Concert.startsAt >= start && Concert.seats > 0,
      order: [.ascending(Concert.startsAt)])
  }

  /// Sells seats, if so many are free.
  func sell(_ count: Int, of key: String) async throws(SyncError) -> Bool {
    try await engine.edits.perform { (batch) throws(SyncError) in
      guard var concert = try batch.find(Concert.self, key: key), concert.seats >= count else {
        return false
      }
      concert.seats -= count
      try batch.upsert(concert)
      return true
    }
  }

  /// Puts a concert off.
  func postpone(_ key: String, by time: TimeInterval) async throws(SyncError) {
    try await engine.edits.update(Concert.self, key: key) { $0.startsAt += time }
  }

  /// The value of the free seats.
  func openValue() async throws(SyncError) -> Decimal {
    let concerts = try await engine.records.all(Concert.self).complete()
    return concerts.reduce(0) { $0 + $1.price * Decimal($1.seats) }
  }
}

#if SQLite
  import SQLiteAdapters

  func firstAppExample(remote: some RemoteRecordSource & RemoteRecordSink) async throws {
    let store = try await SQLiteStore.open(path: "concerts.sqlite")
    let office = try await BoxOffice(store: store, source: remote, sink: remote)
    _ = try await office.engine.sync()
    for try await concerts in office.upcoming(from: .now) {
      for concert in concerts { print(concert.startsAt, concert.price, concert.seats) }
    }
  }
#endif
