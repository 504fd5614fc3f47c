import CRecords
import CanonicalSync
import Dispatch
import SQLiteAdapters
import SyncAdapters

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Runs one workload once, and prints the result as one line of JSON.
@main
struct Ours {
  // An asynchronous `main` ends the first thread, which valgrind does not survive. So that thread
  // waits here.
  static func main() {
    let isOver = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        let options = try Options(Array(CommandLine.arguments.dropFirst()))
        print(try await line(of: options))
      } catch let usage as Options.Usage {
        print(usage.message)
        exit(2)
      } catch {
        print(error)
        exit(1)
      }
      isOver.signal()
    }
    isOver.wait()
  }

  private static func line(of options: Options) async throws -> String {
    guard options.workload == "W12" else { return try await measurement(of: options).line }
    return try await Attending(options: options).run().line
  }

  private static func measurement(of options: Options) async throws -> Measurement {
    switch options.workload {
    case "W4": try await Rebuilding(options: options).run()
    case "W6": try await Reading(options: options).run()
    case "W7": try await Pushing(options: options).run()
    case "W7fill": try await Pushing(options: options).fill()
    case "W9": try await Idling(options: options).run()
    case "successor": try await Succeeding(options: options).run()
    case "committing": try await Committing(options: options).run()
    case "serving", "finding", "listing": try await Serving(options: options).run()
    case "W10": try await Publishing(options: options).run()
    case "W11": try await Lending(options: options).run()
    case "W11reads": try await Lending(options: options).read()
    case "W11plain": try await Lending(options: options).runWithoutPool()
    default: try await Pulling(options: options).run()
    }
  }
}

/// The cost of one run.
struct Measurement {
  private let start = ContinuousClock.now
  private let processor = process_time()
  private var seconds = 0.0
  private var processorSeconds = 0.0
  private var records = 0
  /// Further durations, in seconds.
  var extra: [(name: String, seconds: Double)] = []

  /// Ends the measurement now, after a number of records.
  mutating func end(records: Int) {
    let elapsed = (ContinuousClock.now - start).components
    seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
    processorSeconds = process_time() - processor
    self.records = records
  }

  /// Replaces the time of an ended measurement by a wait in it.
  mutating func wait(_ duration: Duration) {
    seconds = duration / .seconds(1)
  }

  /// Ends the measurement with the median of some durations.
  mutating func end(medianOf durations: [Duration]) {
    end(records: durations.count)
    let middle = durations.sorted()[durations.count / 2].components
    seconds = Double(middle.seconds) + Double(middle.attoseconds) * 1e-18
  }

  var line: String {
    """
    {"seconds":\(seconds),"processor":\(processorSeconds),"peakMB":\(Double(process_peak()) / 1024),\
    "records":\(records)\(extra.map { ",\"\($0.name)\":\($0.seconds)" }.joined())}
    """
  }
}

/// One sync, from the first request to the closed store.
///
/// For W8 the measurement ends with the sync.
struct Pulling {
  var options: Options

  func run() async throws -> Measurement {
    var pulling = self
    for _ in 0..<options.earlier {
      _ = try await pulling.runOnce()
      pulling.options.generation += 1
    }
    return try await pulling.runOnce()
  }

  private func runOnce() async throws -> Measurement {
    let source = PreparedSource(options)
    let (store, close) = try await options.openStore()
    let schema = try SyncSchema(options.entities())
    let engine = try await SyncEngine(schema: schema, store: store, source: source)
    process_count(1)
    var measurement = Measurement()
    let result =
      switch options.workload {
      case "W2": try await engine.resync()
      default: try await engine.sync()
      }
    // Closing moves the log into the file, which no page can hide.
    if options.workload == "W8" { measurement.end(records: options.changes) }
    await close()
    if options.workload != "W8" { measurement.end(records: options.changes) }
    process_count(0)
    let expected = options.entities().map { Pages(options: options).changes(of: $0) }.reduce(0, +)
    let counts = result.total
    let done =
      switch options.workload {
      case "W2": counts.unchanged
      case "W3": counts.updated
      default: counts.inserted
      }
    guard done == expected else { throw Options.Usage(message: "\(done) of \(expected): \(counts)") }
    return measurement
  }
}

/// Two hundred queries by an index, about 1,000 raw records each.
struct Reading {
  let options: Options

  func run() async throws -> Measurement {
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    try await store.register(SyncSchema(options.entities()))
    let venues = record_venues(options.recipe)
    process_count(1)
    var measurement = Measurement()
    var records = 0
    for query in 0..<200 {
      let query = Query("games", where: .equal("venue", .integer(Int64(query) % venues)))
      records += try await store.read { snapshot throws(SyncError) in try snapshot.records(query) }.count
    }
    await store.close()
    measurement.end(records: records)
    process_count(0)
    return measurement
  }
}

/// Syncs without changes.
struct Idling {
  let options: Options

  func run() async throws -> Measurement {
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options))
    var measurement = Measurement()
    var durations: [Duration] = []
    for _ in 0..<21 {
      let start = ContinuousClock.now
      _ = try await engine.sync()
      durations.append(ContinuousClock.now - start)
    }
    await store.close()
    measurement.end(medianOf: durations)
    return measurement
  }
}
