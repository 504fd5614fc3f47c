#if SQLite
  import CanonicalSyncCSQLite
  import Synchronization

  /// Limits the reads that run on the threads that Swift tasks share.
  ///
  /// One of these threads stays free of reads in the whole process. The tasks go on there while
  /// reads wait for the disk. With a single processor, no read runs on such a thread.
  enum TaskThreads {
    private static let limit = Int(csqlite_processor_count()) - 1
    private static let borrowed = Atomic(0)

    /// Takes a thread for a read of the current task, if another one stays free.
    ///
    /// A task that prefers an executor of the app's own has no such thread.
    static func borrow() -> Bool {
      guard withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor == nil }) else { return false }
      if borrowed.add(1, ordering: .relaxed).oldValue < limit { return true }
      giveBack()
      return false
    }

    /// Ends a read for which a thread was borrowed.
    static func giveBack() {
      borrowed.subtract(1, ordering: .relaxed)
    }
  }
#endif
