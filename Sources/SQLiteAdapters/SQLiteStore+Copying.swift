#if SQLite
  import CanonicalSyncCSQLite
  import CanonicalSyncDatabases
  public import SyncModels

  extension SQLiteStore {
    /// Writes the store's state at one instant to a new file.
    ///
    /// The copy serves as a backup or for experiments. It is a store with the same identity and the
    /// same checkpoints. Reads of the store continue meanwhile; this process's own writes wait.
    /// Only the file's owner can read it.
    ///
    /// - Parameter path: The path of the copy. An existing file has to be empty.
    /// - Throws: `storeFailure` if a file exists there or the directory is missing; `storeFull` if
    ///   there is no room; `cancelled`. After the last two there is no file.
    /// - Complexity: O(*n*) in the bytes of the store.
    public func copy(to path: String) async throws(SyncError) {
      let target = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw SyncError(
          .invalidConfiguration, during: "copying the store", "The path is empty or has a NUL in it.")
      }
      try await writer.run { connection throws(SyncError) in
        // SQLite would make the file readable to all users. It accepts an existing empty file. No
        // other file is opened: if it is a store in use, closing it would end SQLite's locks of it.
        let failure = csqlite_create_private(target)
        guard failure == 0 || csqlite_kind_of_path(target) == 1 && csqlite_is_empty(target) != 0 else {
          throw SyncError(
            .storeFailure, during: "copying the store",
            "No copy can be made at \(path): there is a file already, or no file can be made.")
        }
        do throws(SyncError) {
          try connection.stoppingWithTask { () throws(SyncError) in
            let statement = try connection.statement("VACUUM INTO ?")
            defer { statement.clear() }
            try statement.bind(StoreOpening.uri(target), at: 1)
            try statement.run()
          }
        } catch {
          // A part of a store must not pass for a backup.
          for suffix in ["", "-journal"] { _ = csqlite_remove(target + suffix) }
          if Task.isCancelled {
            throw SyncError(.cancelled, during: "copying the store", "The copy was not finished.")
          }
          throw error
        }
      }
    }
  }
#endif
