import CanonicalSync

#if SQLite
  import SQLiteAdapters

  /// Opens a store for reading alone: no lease is taken, and nothing of the file changes.
  func openStore(at path: String) async throws(SyncError) -> any LocalStore {
    try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: true))
  }
#else
  /// Refuses: whoever built the tool left SQLite out.
  func openStore(at path: String) async throws(SyncError) -> any LocalStore {
    throw SyncError(
      .invalidConfiguration, during: "opening \(path)",
      "This build knows no kind of store; build it with the package trait SQLite.")
  }
#endif
