#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import SQLiteAdapters

  extension Mirror {
    /// Updates a temporary copy of the store. The store itself is only read.
    func lookWithoutChanges() async throws(SyncError) -> Look {
      guard !OpenedStore.isDatabase(options.store) else {
        throw SyncError(
          .invalidConfiguration, during: "preparing a dry run",
          "A dry run works on a copy of the store's file, and this store is in a database.")
      }
      let folder = FileManager.default.temporaryDirectory.appending(path: "sync-mirror-\(UUID().uuidString)")
      do {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw SyncError(
          .storeFailure, during: "making room for a copy of the store",
          "The folder \(folder.path) cannot be made.", underlying: error)
      }
      defer {
        // The system cleans up what cannot be removed.
        try? FileManager.default.removeItem(at: folder)
      }
      let copy = folder.appending(path: "copy.sqlite").path
      if FileManager.default.fileExists(atPath: options.store) {
        let store = try await SQLiteStore.open(path: options.store, configuration: .init(isReadOnly: true))
        try await store.copy(to: copy)
        await store.close()
      }
      let store = try await SQLiteStore.open(path: copy)
      let look = try await look(into: store)
      await store.close()
      return look
    }
  }
#endif
