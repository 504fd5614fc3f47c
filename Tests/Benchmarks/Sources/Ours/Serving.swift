import CRecords
import CanonicalSync
import SyncAdapters

/// One of several servers that answer from a store: single records by id, for some seconds.
struct Serving {
  let options: Options
  private static let tasks = 6
  private static let seconds = 4

  func run() async throws -> Measurement {
    let (store, close) = try await options.openStore()
    try await store.register(SyncSchema(options.entities()))
    let keys = (0..<1000).map { place -> String in
      var record = record()
      record_make(options.recipe, Int64(place) * options.recipe.count / 1000, 0, &record)
      return withUnsafeBytes(of: record.id) { String(decoding: $0.prefix(36), as: UTF8.self) }
    }
    var measurement = Measurement()
    let end = ContinuousClock.now + .seconds(Self.seconds)
    let answers = try await withThrowingTaskGroup(of: Int.self) { tasks in
      for first in 0..<Self.tasks {
        tasks.addTask {
          var (place, count) = (first * 100, 0)
          while ContinuousClock.now < end {
            let id = RecordID(type: "games", key: keys[place % keys.count])
            let found = try await store.read { snapshot throws(SyncError) in
              try snapshot.records(withIDs: [id])
            }
            guard found.first.flatMap(\.self) != nil else { throw Options.Usage(message: "\(id) is missing") }
            (place, count) = (place + 1, count + 1)
          }
          return count
        }
      }
      return try await tasks.reduce(0, +)
    }
    measurement.end(records: answers)
    await close()
    return measurement
  }
}
