import CRecords
import CanonicalSync
import SQLiteAdapters
import SyncAdapters

/// Edits of records that the remote has, made on one day and pushed on another.
struct Pushing {
  let options: Options
  private static let editsAtOnce = 100

  private var edits: Int { Int(record_edits(options.recipe)) }

  /// Fills the store, and edits some of its records.
  func fill() async throws -> Measurement {
    _ = try await Pulling(options: options).run()
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options))
    let pages = Pages(options: options)
    var measurement = Measurement()
    for start in stride(from: 0, to: edits, by: Self.editsAtOnce) {
      let places = start..<min(edits, start + Self.editsAtOnce)
      try await engine.edits.perform { (batch) throws(SyncError) in
        for place in places {
          let (key, payload) = pages.edit(place)
          try batch.set(RecordID(type: "games", key: key)) { (fields) throws(SyncError) in
            guard let edited = try? FieldMap(payload) else { return }
            fields = edited
          }
        }
      }
    }
    await store.close()
    measurement.end(records: edits)
    return measurement
  }

  /// Pushes the edits.
  func run() async throws -> Measurement {
    let store = try await SQLiteStore.open(path: options.path, configuration: options.configuration)
    let engine = try await SyncEngine(
      schema: SyncSchema(options.entities()), store: store, source: PreparedSource(options),
      sink: AcceptingSink())
    process_count(1)
    var measurement = Measurement()
    let result = try await engine.push()
    await store.close()
    measurement.end(records: edits)
    process_count(0)
    guard result.pushed.accepted == edits, result.pushed.pending == 0 else {
      throw Options.Usage(message: "\(result.pushed) of \(edits)")
    }
    return measurement
  }
}

/// A sink that accepts every edit unchanged, at once.
private struct AcceptingSink: RemoteRecordSink {
  let identity = "benchmark"

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    changes.map { change in
      let version = Version(modifiedAt: Timestamp(milliseconds: 4_000_000_000_000))
      switch change.content {
      case .upsert(let payload, let schemaVersion):
        return .accepted(
          .upsert(
            Record(
              id: change.id, version: version, schemaVersion: schemaVersion, payload: payload, fields: [])))
      case .deletion:
        return .accepted(.tombstone(Tombstone(id: change.id, version: version)))
      }
    }
  }
}
