import CRecords
import CanonicalSync
import SQLiteAdapters
import SyncAdapters
import Synchronization

/// The waits of an app's edits and reads, without a sync and during one.
///
/// The app edits every 5 ms and reads every 2 ms. It reads the records that it edits.
struct Attending {
  let options: Options
  private static let idleTime = Duration.seconds(4)

  func run() async throws -> Attendance {
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options))
    let idle = try await waits(of: engine, in: store) {
      try await Task.sleep(for: Self.idleTime)
    }
    var measurement = Measurement()
    let busy = try await waits(of: engine, in: store) {
      measurement = Measurement()
      let counts = try await engine.sync()["games"]
      guard counts.inserted == options.changes else { throw Options.Usage(message: "\(counts)") }
      measurement.end(records: options.changes)
    }
    await store.close()
    return Attendance(measurement: measurement, idle: idle, busy: busy)
  }

  /// The waits of edits and of reads while some work is under way.
  struct Waits {
    var edits: [Duration] = []
    var reads: [Duration] = []
  }

  private func waits(
    of engine: SyncEngine, in store: SQLiteStore, during work: () async throws -> Void
  ) async throws -> Waits {
    let isOver = Flag()
    async let edits = Self.repeated(every: .milliseconds(5), until: isOver) { number in
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(Self.note(number)) { fields in fields["count"] = Array("\(number)".utf8)[...] }
      }
    }
    async let reads = Self.repeated(every: .milliseconds(2), until: isOver) { number in
      _ = try await store.read { snapshot throws(SyncError) in
        try snapshot.records(withIDs: [Self.note(number)])
      }
    }
    defer { isOver.raise() }
    try await work()
    isOver.raise()
    return Waits(edits: try await edits, reads: try await reads)
  }

  private static func note(_ number: Int) -> RecordID {
    RecordID(type: "notes", key: "n\(number % 100)")
  }

  /// Runs a call at each instant of a schedule, and measures each.
  ///
  /// A call does not wait for the one before it: an app's next tap does not wait either.
  private static func repeated(
    every interval: Duration, until isOver: Flag, _ call: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> [Duration] {
    try await withThrowingTaskGroup(of: Duration.self) { calls in
      var (due, number) = (ContinuousClock.now, 0)
      while !isOver.isRaised {
        let current = number
        calls.addTask { try await ContinuousClock().measure { try await call(current) } }
        (due, number) = (due + interval, number + 1)
        try await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
      }
      return try await calls.reduce(into: []) { $0.append($1) }
    }
  }
}

/// The result of ``Attending``.
struct Attendance {
  var measurement: Measurement
  var idle: Attending.Waits
  var busy: Attending.Waits

  var line: String {
    var measurement = measurement
    measurement.extra = [
      ("idleEdit", idle.edits), ("idleRead", idle.reads), ("edit", busy.edits), ("read", busy.reads),
    ].flatMap { name, waits in
      [(name + "99", Self.quantile(0.99, of: waits)), (name + "50", Self.quantile(0.5, of: waits))]
    }
    return measurement.line
  }

  private static func quantile(_ share: Double, of waits: [Duration]) -> Double {
    let sorted = waits.sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .seconds(1)
  }
}
