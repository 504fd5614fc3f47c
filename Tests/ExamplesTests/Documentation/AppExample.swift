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

/// What both offices have sold is sold: both numbers of seats are taken off.
///
/// All else is as the later write has it. The number is negative if both have sold the same ones.
struct SoldSeats: MergePolicy {
  static let reasons: Set<String> = [
    "both sides changed the seats", "the local edit was written last", "the remote state was written last",
  ]

  func settle(_ conflict: MergeConflict) -> MergeResolution {
    let later = LastWriteWins().settle(conflict)
    guard let before = seats(conflict.base, conflict), let here = seats(conflict.local.content, conflict),
      let there = seats(conflict.remote.content, conflict),
      var members = try? content(of: later, conflict).map(FieldMap.init)
    else { return later }
    members["seats"] = Array("\(here + there - before)".utf8)[...]
    return .merged(members.payload, reason: "both sides changed the seats")
  }

  private func content(of later: MergeResolution, _ conflict: MergeConflict) -> Payload? {
    if case .local = later { conflict.local.content } else { conflict.remote.content }
  }

  private func seats(_ content: Payload?, _ conflict: MergeConflict) -> Int? {
    guard conflict.id.type == Concert.recordType else { return nil }
    // A copy that does not decode says nothing of seats.
    return try? content?.decoded(as: Concert.self, key: conflict.id.key).seats
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
      edits: EditOptions(policies: ["concerts": SoldSeats()]))
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
