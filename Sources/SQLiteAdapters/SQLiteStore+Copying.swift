#if SQLite
  import CSQLite
  public import SyncModels

  extension SQLiteStore {
    /// Writes the store as it is at one instant to a file of its own: a backup, or something to try things on.
    ///
    /// The copy is a store with the same identity and the same checkpoints. Others read the store meanwhile; this process's own writes
    /// wait. The file is readable by its owner alone.
    ///
    /// - Parameter path: Where the copy goes; an existing file has to be empty.
    /// - Throws: `storeFailure` if there is something already or its directory is missing, `storeFull` if there is no room.
    /// - Complexity: O(*n*) in the bytes of the store.
    public func copy(to path: String) async throws(SyncError) {
      let target = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw SyncError(
          .invalidConfiguration, during: "copying the store", "The path is empty or has a NUL in it.")
      }
      try await writer.run { connection throws(SyncError) in
        // SQLite would make the file readable to everybody, and takes an empty one as well.
        let file = csqlite_open_private(target)
        guard file >= 0, csqlite_is_empty(target) != 0 else {
          if file >= 0 { csqlite_close(file) }
          throw SyncError(
            .storeFailure, during: "copying the store",
            "No copy can be made at \(path): there is a file already, or no file can be made.")
        }
        csqlite_close(file)
        let statement = try connection.statement("VACUUM INTO ?")
        defer { statement.clear() }
        try statement.bind(StoreOpening.uri(target), at: 1)
        try statement.run()
      }
    }
  }
#endif
