#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Copies of a store's files as they were found, with a damaged log.
  ///
  /// SQLite ignores the transactions behind the damage, and writes over them. The copies keep them
  /// for a salvage.
  struct KeptFiles {
    private let path: String

    init(of path: String) {
      self.path = path
    }

    /// The copies that exist. Each is a store with its log.
    var existing: [String] { names.filter { csqlite_kind_of_path($0) != 0 } }

    private var names: [String] {
      (1...Self.maximum).map { path + ".damaged" + ($0 == 1 ? "" : "-\($0)") }
    }

    private static let maximum = 9

    /// Copies the files if the log is damaged, before SQLite opens them.
    ///
    /// A log is copied once. The store may grow over the damage until the log begins again.
    ///
    /// - Throws: `storeFull` or `storeReadOnly` if they cannot be copied, or there are nine copies.
    func keep() throws(SyncError) {
      let log = path + "-wal"
      guard csqlite_is_empty(log) == 0, let damage = try LogDamage.find(inLog: log) else { return }
      for copy in existing where try LogDamage.find(inLog: copy + "-wal")?.salts == damage.salts { return }
      guard let name = names.first(where: { csqlite_kind_of_path($0) == 0 }) else {
        throw SyncError(
          .storeReadOnly, during: "keeping a damaged log",
          "\(path) has a damaged log, and there are \(Self.maximum) copies of such; salvage and remove them.")
      }
      // The log last, because a copy without it is none.
      do throws(SyncError) {
        try FileCopy.make(of: path, at: name, during: Self.operation)
        try FileCopy.make(of: log, at: name + "-wal", during: Self.operation)
      } catch {
        for suffix in ["", "-wal"] { _ = csqlite_remove(name + suffix) }
        throw error
      }
    }

    private static let operation = "keeping a damaged log"
  }
#endif
