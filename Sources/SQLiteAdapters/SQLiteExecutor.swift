#if SQLite
  import Dispatch

  /// Runs a store's SQLite calls, which block a thread while they wait.
  ///
  /// They wait for the disk or for a lock.
  public struct SQLiteExecutor: Sendable {
    let makeQueue: @Sendable (String) -> (any SerialExecutor)?

    /// Creates an executor that runs each connection's work on a serial executor.
    ///
    /// - Parameter makeQueue: Makes the executor of one connection. Its argument is a label for
    ///   debuggers.
    public init(_ makeQueue: @escaping @Sendable (_ label: String) -> any SerialExecutor) {
      self.makeQueue = { makeQueue($0) }
    }

    private init(inline: Void) {
      makeQueue = { _ in nil }
    }

    /// Runs on queues of Dispatch, one for each connection.
    ///
    /// It never runs on the threads that Swift tasks share.
    public static let dispatch = SQLiteExecutor { DispatchLane(label: $0) }

    /// Runs on the caller's own thread, for simulators that schedule everything themselves.
    public static let inline = SQLiteExecutor(inline: ())
  }

  /// A Dispatch queue as a serial executor.
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
