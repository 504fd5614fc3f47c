#if SQLite
  import CSQLite
  import SyncModels

  /// A file beside the store on which each holder of the lease keeps a byte locked, so that others can tell whether it lives.
  ///
  /// The kernel gives a lock up when its process dies, however it dies. There is a byte for each fencing number, so a holder that was
  /// stopped, lost its lease and woke up is not taken for its successor.
  final class LeaseFile: Sendable {
    private let file: Int32

    /// Opens the file, creating it where it is missing.
    init(besideStore path: String) throws(SQLiteFailure) {
      file = csqlite_open_private(Self.path(besideStore: path))
      if file < 0 { throw SQLiteFailure(code: SQLITE_CANTOPEN, systemError: -file) }
    }

    deinit {
      // A process that the app is starting has all its files until it runs its own program: closing this one alone would leave the lock.
      guard file >= 0 else { return }
      csqlite_unlock(file)
      csqlite_close(file)
    }

    static func path(besideStore path: String) -> String { path + ".lease" }

    /// Takes the file from everybody but its owner; false where it belongs to another user.
    func makePrivate() -> Bool { csqlite_make_private(file) == 0 }

    /// Locks a fencing number's byte for as long as this object lives; false where the file system cannot lock.
    func lock(_ fence: Int64) -> Bool {
      csqlite_lock_byte(file, fence) == 0
    }

    /// Whether a fencing number's byte is locked through another object; `nil` where that cannot be found out.
    func isLocked(_ fence: Int64) -> Bool? {
      switch csqlite_is_byte_locked(file, fence) {
      case 0: false
      case 1: true
      default: nil
      }
    }
  }
#endif
