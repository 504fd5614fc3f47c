import CanonicalSync

#if SQLite
  import SQLiteAdapters

  /// Opens a store for reading alone: no lease is taken, and nothing of the file changes.
  func openStore(at path: String) async throws(SyncError) -> any LocalStore {
    try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
  }

  /// Opens a store for writing, for as long as some work lasts.
  func withWritableStore<R>(
    at path: String, _ work: (any LocalStore) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let store = try await SQLiteStore.open(path: path)
    let result: Result<R, SyncError>
    do throws(SyncError) {
      result = .success(try await work(store))
    } catch {
      result = .failure(error)
    }
    await store.close()
    return try result.get()
  }
#else
  /// Refuses: whoever built the tool left SQLite out.
  func openStore(at path: String) async throws(SyncError) -> any LocalStore {
    throw SyncError(
      .invalidConfiguration, during: "opening \(path)",
      "This build knows no kind of store; build it with the package trait SQLite.")
  }

  /// Refuses: whoever built the tool left SQLite out.
  func withWritableStore<R>(
    at path: String, _ work: (any LocalStore) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await work(try await openStore(at: path))
  }
#endif
