#if SQLite
  import Dispatch

  /// Where a store's calls into SQLite run, which block a thread while they wait for the disk or a lock.
  public struct SQLiteExecutor: Sendable {
    let makeQueue: @Sendable (String) -> (any SerialExecutor)?

    /// Runs each connection's work on a serial executor of one's own.
    ///
    /// - Parameter makeQueue: Makes the executor of one connection, which gets a label for debuggers.
    public init(_ makeQueue: @escaping @Sendable (_ label: String) -> any SerialExecutor) {
      self.makeQueue = { makeQueue($0) }
    }

    private init(inline: Void) {
      makeQueue = { _ in nil }
    }

    /// On queues of Dispatch, one to a connection, never on the threads that Swift tasks share.
    public static let dispatch = SQLiteExecutor { DispatchLane(label: $0) }

    /// On the caller's own thread, for simulators that schedule everything themselves.
    public static let inline = SQLiteExecutor(inline: ())
  }

  /// A serial queue as Swift tasks see it.
  private final class DispatchLane: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) {
      queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }
#endif
