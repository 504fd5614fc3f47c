import CanonicalSync
import SyncAdapters

/// One of several servers that edit the same store: one edit after another, for some seconds.
struct Committing {
  let options: Options
  private static let seconds = 4

  func run() async throws -> Measurement {
    let (store, close) = try await options.openStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options))
    let name = UInt32.random(in: 0...UInt32.max)
    var measurement = Measurement()
    var count = 0
    let end = ContinuousClock.now + .seconds(Self.seconds)
    while ContinuousClock.now < end {
      let number = count
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "notes", key: "\(name)-\(number % 100)")) { fields in
          fields["count"] = Array("\(number)".utf8)[...]
        }
      }
      count += 1
    }
    measurement.end(records: count)
    await close()
    return measurement
  }
}
