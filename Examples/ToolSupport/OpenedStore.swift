package import CanonicalSync

#if SQLite
  import SQLiteAdapters
#endif
#if Postgres
  import PostgresAdapters
#endif

/// A tool's open store: an SQLite file, or a schema of a PostgreSQL database.
package struct OpenedStore: Sendable {
  /// The store.
  package let store: any LocalStore
  private let end: @Sendable () async -> Void

  /// What `--store` takes.
  package static let placeholder = "PATH|URL"
  /// What `--store` means.
  package static let meaning =
    "the store: an SQLite file, or postgres://user@host:port/database?schema=NAME (password: PGPASSWORD, PGPASSFILE)"

  /// Whether a place is an address of a database, and not a path.
  package static func isDatabase(_ place: String) -> Bool {
    place.hasPrefix("postgres://") || place.hasPrefix("postgresql://")
  }

  /// Opens the store at a path or an address.
  ///
  /// - Parameter isReadOnly: Whether the store is only read. A missing one is then an error.
  /// - Throws: `invalidConfiguration` if this build lacks the store's trait, and what the store
  ///   throws.
  package static func open(_ place: String, isReadOnly: Bool = false) async throws(SyncError) -> OpenedStore {
    isDatabase(place)
      ? try await openDatabase(place, isReadOnly) : try await openFile(place, isReadOnly)
  }

  /// Closes the store after the calls that have begun.
  package func close() async { await end() }

  #if SQLite
    private static func openFile(_ path: String, _ isReadOnly: Bool) async throws(SyncError) -> OpenedStore {
      let store = try await SQLiteStore.open(path: path, configuration: .init(isReadOnly: isReadOnly))
      return OpenedStore(store: store) { await store.close() }
    }
  #else
    private static func openFile(_ path: String, _ isReadOnly: Bool) async throws(SyncError) -> OpenedStore {
      throw lacking("SQLite", toOpen: path)
    }
  #endif

  #if Postgres
    private static func openDatabase(
      _ text: String, _ isReadOnly: Bool
    ) async throws(SyncError) -> OpenedStore {
      let store = try await PostgresStore.open(
        try PostgresAddress(text), configuration: .init(isReadOnly: isReadOnly))
      return OpenedStore(store: store) { await store.close() }
    }
  #else
    private static func openDatabase(
      _ text: String, _ isReadOnly: Bool
    ) async throws(SyncError) -> OpenedStore {
      // The address may hold a password by mistake.
      throw lacking("Postgres", toOpen: "a store in PostgreSQL")
    }
  #endif

  private static func lacking(_ trait: String, toOpen place: String) -> SyncError {
    SyncError(
      .invalidConfiguration, during: "opening \(place)",
      "This build lacks the package trait \(trait), which the store needs; build it with --enable-all-traits."
    )
  }
}
