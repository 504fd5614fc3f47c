import CanonicalSync

#if SQLite
  import SQLiteAdapters

  /// Opens a store read-only: no lease is taken, and the file does not change.
  func openStore(at path: String) async throws(SyncError) -> any LocalStore {
    try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
  }

  /// Opens a store for writing, for the time of some work.
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

  /// Opens a damaged store, for the time of some work. It is not changed.
  ///
  /// - Parameter scratch: The path of a copy, which is made if the file cannot be read in place.
  func withSalvageSource<R>(
    at path: String, scratch: String, _ work: (any SalvageSource) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let source = SQLiteSalvage(path: path, scratch: scratch)
    let result: Result<R, SyncError>
    do throws(SyncError) {
      result = .success(try await work(source))
    } catch {
      result = .failure(error)
    }
    await source.close()
    return try result.get()
  }
#else
  /// Throws: this build lacks the trait SQLite.
  func withSalvageSource<R>(
    at path: String, scratch: String, _ work: (any SalvageSource) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await work(PortSalvage(try await openStore(at: path)))
  }

  /// Throws: this build lacks the trait SQLite.
  func openStore(at path: String) async throws(SyncError) -> any LocalStore {
    throw SyncError(
      .invalidConfiguration, during: "opening \(path)",
      "This build knows no kind of store; build it with the package trait SQLite.")
  }

  /// Throws: this build lacks the trait SQLite.
  func withWritableStore<R>(
    at path: String, _ work: (any LocalStore) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await work(try await openStore(at: path))
  }
#endif
