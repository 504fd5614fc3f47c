import CanonicalSync
import InMemoryAdapters
import SyncAdapters

/// A phone with the app: a store, an engine, and a network of its own.
struct Device: Sendable {
  let name: String
  let engine: SyncEngine
  let network = ManualConnectivity()
  let events = EventRecorder()
  private let store: StoreFolder.OpenStore

  /// Starts the app on a device.
  init(
    _ name: String, types: SyncSchema, in folder: StoreFolder, remote: InMemoryRemote, clock: ManualClock,
    archive: Archive? = nil
  ) async throws(SyncError) {
    self.name = name
    store = try await folder.open(name, clock: clock)
    let onStorageFull: (@Sendable () async -> Bool)? =
      if let archive { { archive.onStorageFull() } } else { nil }
    let edits = EditOptions(onStorageFull: onStorageFull)
    engine = try await SyncEngine(
      schema: types, store: store.store, source: remote, sink: remote, clock: clock, edits: edits,
      connectivity: network, observers: [events])
  }

  func close() async { await store.close() }

  /// All meters that the app shows.
  func meters() async throws(SyncError) -> [Meter] {
    try await engine.records.all(Meter.self).complete().map(\.value)
  }

  /// The name that the app shows for a meter.
  func name(of key: String) async throws(SyncError) -> String? {
    try await engine.records.find(Meter.self, key: key)?.name
  }

  /// Names a meter, or adds it.
  func rename(_ key: String, mac: String, to name: String) async throws(SyncError) {
    try await engine.edits.upsert(Meter(mac: mac, name: name), key: key)
  }

  /// The edits that the remote has not acknowledged.
  func pending() async throws(SyncError) -> [OutboxEntry] {
    var entries: [OutboxEntry] = []
    for entity in engine.schema.entities { entries += try await engine.edits.pending(entity.type) }
    return entries
  }

  /// Runs a body in a snapshot of the device's store.
  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await store.store.read(body)
  }
}
