import CRecords
import CanonicalSync
import SQLiteAdapters
import SyncAdapters

/// A rebuild that merges each two records with a shared address into one.
struct Rebuilding {
  let options: Options

  func run() async throws -> Measurement {
    // The rebuild makes no request to the remote.
    var options = options
    options.isLazy = true
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options))
    process_count(1)
    var measurement = Measurement()
    let report = try await engine.rebuildDuplicates(of: "games", version: 1)
    await store.close()
    measurement.end(records: Int(options.recipe.count))
    process_count(0)
    guard report.counts.losers == Int(record_duplicates(options.recipe)),
      report.recordsAfter == Int(options.recipe.count) - report.counts.losers
    else { throw Options.Usage(message: "\(report)") }
    return measurement
  }
}
