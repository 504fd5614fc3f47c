#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Copies of a store's files as they were found, with a damaged log.
  ///
  /// SQLite ignores the transactions behind the damage, and writes over them. The copies keep them
  /// for a salvage.
  struct KeptFiles {
    private let path: String
    private static let operation = "keeping a damaged log"
    private static let maximum = 9

    init(of path: String) {
      self.path = path
    }

    /// The copies that exist. Each is a store with its log.
    var existing: [String] { names.filter { csqlite_kind_of_path($0) != 0 } }

    private var names: [String] {
      (1...Self.maximum).map { path + ".damaged" + ($0 == 1 ? "" : "-\($0)") }
    }

    private var log: String { path + "-wal" }

    /// Copies the files if SQLite ignores transactions of the log, before the connection writes.
    ///
    /// Other processes cannot write meanwhile, nor begin the log anew. A copy has its name once it
    /// is whole and on the disk.
    ///
    /// - Throws: `storeFull` or `storeReadOnly` if the files cannot be copied, or if there are nine
    ///   copies; `storeUnreadable` if the store contradicts itself without those transactions;
    ///   `cancelled`; `storeBusy` if another process writes all the time.
    func keep(_ connection: Connection) throws(SyncError) {
      guard csqlite_is_empty(log) == 0, try LogDamage.find(inLog: log) != nil else { return }
      try connection.transaction(.write) { () throws(SyncError) in
        guard let damage = try LogDamage.find(inLog: log) else { return }
        if damage.isPassed(by: connection) { return }
        try demandOneState(connection)
        for copy in existing where has(damage.ignored, inLog: copy + "-wal") { return }
        try copy(connection)
      }
    }

    /// Refuses a store of which SQLite reads a mixture of two states.
    ///
    /// The log is copied into the file all the time. If it was copied from behind the damage,
    /// SQLite shows the earlier pages of the log beside the later ones of the file.
    private func demandOneState(_ connection: Connection) throws(SyncError) {
      guard try LogDamage.hasReachedFile(of: connection, fromLog: log),
        let finding = try FormatCheck.firstContradiction(in: connection)
      else { return }
      throw SyncError(
        .storeUnreadable, during: "opening the store",
        """
        The log of \(path) is damaged, and without the transactions behind the damage the file contradicts \
        itself (\(finding)). It was not touched; salvage it.
        """)
    }

    private func copy(_ connection: Connection) throws(SyncError) {
      guard let name = names.first(where: { csqlite_kind_of_path($0) == 0 }) else {
        throw SyncError(
          .storeReadOnly, during: Self.operation,
          "\(path) has a damaged log, and there are \(Self.maximum) copies of such; salvage and remove them.")
      }
      let partial = path + ".damaged.incomplete"
      do throws(SyncError) {
        try FileCopy.make(ofLog: log, at: partial + "-wal", during: Self.operation)
        try FileCopy.make(ofFileOf: connection, at: partial, during: Self.operation)
        for suffix in ["-wal", ""] {
          let failure = csqlite_rename(partial + suffix, name + suffix, StoreOpening.directory(of: path))
          if failure != 0 { throw SQLiteFailure.ofCopy(failure, during: Self.operation) }
        }
      } catch {
        for suffix in ["", "-wal"] { _ = csqlite_remove(partial + suffix) }
        throw error
      }
    }

    /// Whether a copied log has the same bytes as the store's at a place.
    ///
    /// A copy that cannot be read has not.
    private func has(_ bytes: Range<Int64>, inLog copy: String) -> Bool {
      do throws(SyncError) {
        guard let own = try LogBytes(log), let other = try LogBytes(copy) else { return false }
        var place = bytes.lowerBound
        while place < bytes.upperBound {
          let count = Int(min(bytes.upperBound - place, Self.portion))
          let found = try own.read(count, at: place)
          if found.isEmpty { break }
          guard try other.read(count, at: place) == found else { return false }
          place += Int64(found.count)
        }
        return true
      } catch {
        return false
      }
    }

    private static let portion: Int64 = 1 << 20
  }
#endif
