import CanonicalSync
import SQLiteAdapters
import SyncAdapters
import Synchronization

/// The longest wait of an app's edit during a first sync.
///
/// The synced type is shown whole. It is published in one transaction, and edits of any type wait
/// for its end.
struct Publishing {
  let options: Options

  func run() async throws -> Measurement {
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options))
    let isOver = Flag()
    var measurement = Measurement()
    let waits = try await withThrowingTaskGroup(of: [Duration].self) { group in
      group.addTask {
        var waits: [Duration] = []
        while !isOver.isRaised {
          let (start, number) = (ContinuousClock.now, waits.count)
          try await engine.edits.perform { (batch) throws(SyncError) in
            try batch.set(RecordID(type: "notes", key: "n\(number % 100)")) { fields in
              fields["count"] = Array("\(number)".utf8)[...]
            }
          }
          waits.append(ContinuousClock.now - start)
          try await Task.sleep(for: .milliseconds(1))
        }
        return waits
      }
      group.addTask {
        defer { isOver.raise() }
        let counts = try await engine.sync()["games"]
        guard counts.inserted == options.changes else { throw Options.Usage(message: "\(counts)") }
        return []
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    await store.close()
    measurement.end(records: options.changes)
    measurement.wait(waits.max() ?? .zero)
    return measurement
  }
}

/// A flag that is raised once.
final class Flag: Sendable {
  private let state = Mutex(false)
  var isRaised: Bool { state.withLock { $0 } }
  func raise() { state.withLock { $0 = true } }
}
