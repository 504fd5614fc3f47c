import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncMaintenance

#if SQLite
  import SQLiteAdapters
#endif

/// Opens a store read-only: no lease is taken, and the store does not change.
func openStore(at place: String) async throws(SyncError) -> any LocalStore {
  try await OpenedStore.open(place, isReadOnly: true).store
}

/// Opens a store for writing, for the time of some work.
func withWritableStore<R>(
  at place: String, _ work: (any LocalStore) async throws(SyncError) -> R
) async throws(SyncError) -> R {
  let opened = try await OpenedStore.open(place)
  let result: Result<R, SyncError>
  do throws(SyncError) {
    result = .success(try await work(opened.store))
  } catch {
    result = .failure(error)
  }
  await opened.close()
  return try result.get()
}

/// Opens a damaged store, for the time of some work. It is not changed.
///
/// - Parameter scratch: The path of a copy, which is made if a file cannot be read in place.
func withSalvageSource<R>(
  at path: String, scratch: String, _ work: (any SalvageSource) async throws(SyncError) -> R
) async throws(SyncError) -> R {
  if OpenedStore.isDatabase(path) {
    // A database checks its own pages, and is read as any store.
    return try await work(PortSalvage(try await openStore(at: path)))
  }
  #if SQLite
    let source = SQLiteSalvage(path: path, scratch: scratch)
    let result: Result<R, SyncError>
    do throws(SyncError) {
      result = .success(try await work(source))
    } catch {
      result = .failure(error)
    }
    await source.close()
    return try result.get()
  #else
    return try await work(PortSalvage(try await openStore(at: path)))
  #endif
}
