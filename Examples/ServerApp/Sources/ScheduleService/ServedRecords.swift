import CanonicalSync
package import SyncServing

extension ScheduleService {
  /// The records for other clients, which may read all of them and write none.
  ///
  /// The truth is the source, from which this server syncs; there is no sink that could push a client's edit.
  package func records(in store: any LocalStore) async throws(SyncError) -> KintoService {
    try await KintoService(store, schema: scheduleSchema(), bucket: "league", mode: .gateway(edits)) { _ in
      ServiceCaller("anyone", reads: { _ in .everything }, writes: { _ in .nothing })
    }
  }
}
