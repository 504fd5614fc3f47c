#if SQLite
  import CanonicalSyncCSQLite
  import Synchronization

  /// Keeps the last file descriptors of the process free while files are opened.
  ///
  /// Without a free descriptor, a process can do little but end. Dispatch, which runs Swift's tasks
  /// on Linux, reads the state of its threads from files every second, and aborts if it cannot open
  /// them. SQLite opens a file read-only if it cannot be opened for writing, so the shortage looks
  /// like a missing permission.
  enum DescriptorMargin {
    /// The descriptors that calls in progress may open.
    private static let held = Mutex(0)

    /// The number of descriptors that stay free.
    ///
    /// A process with a low limit has few threads that could open files meanwhile.
    private static var size: Int { min(32, Int(csqlite_descriptor_limit()) / 8) }

    /// Runs a call that opens up to a number of files.
    ///
    /// - Returns: The call's result; `nil`, without the call, if too few descriptors are free.
    static func hold<R, Failure>(_ count: Int, _ open: () throws(Failure) -> R) throws(Failure) -> R? {
      let isGranted = held.withLock { held in
        let needed = held + count + size
        guard csqlite_free_descriptors(Int32(clamping: needed)) >= needed else { return false }
        held += count
        return true
      }
      guard isGranted else { return nil }
      defer { held.withLock { $0 -= count } }
      return try open()
    }
  }
#endif
