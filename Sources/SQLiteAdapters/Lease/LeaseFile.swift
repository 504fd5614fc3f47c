#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The lock file beside the store, which shows whether a lease's holder lives.
  ///
  /// Each holder keeps one byte locked, and the kernel releases the lock when the process dies in
  /// any way. There is a byte for each fencing number. A holder that was stopped, lost its lease
  /// and resumed is therefore not taken for its successor.
  final class LeaseFile: Sendable {
    private let file: Int32

    /// Opens the file, and creates it if it is missing.
    init(besideStore path: String) throws(SQLiteFailure) {
      file = DescriptorMargin.hold(1) { csqlite_open_private(Self.path(besideStore: path)) } ?? -EMFILE
      if file < 0 { throw SQLiteFailure(code: SQLITE_CANTOPEN, systemError: -file) }
    }

    deinit {
      // A process that the app is starting shares all open files until it runs its own program.
      // Closing this file alone would leave the lock in place.
      guard file >= 0 else { return }
      csqlite_unlock(file)
      csqlite_close(file)
    }

    static func path(besideStore path: String) -> String { path + ".lease" }

    /// Restricts the file to its owner; false if it belongs to another user.
    func makePrivate() -> Bool { csqlite_make_private(file) == 0 }

    /// Locks a fencing number's byte for the lifetime of this object.
    ///
    /// Returns false if the file system cannot lock.
    func lock(_ fence: Int64) -> Bool {
      csqlite_lock_byte(file, fence) == 0
    }

    /// Whether another object has locked a fencing number's byte; `nil` if that is unknown.
    func isLocked(_ fence: Int64) -> Bool? {
      switch csqlite_is_byte_locked(file, fence) {
      case 0: false
      case 1: true
      default: nil
      }
    }
  }
#endif
