import Dispatch

/// Runs file reads, which block a thread while they wait for the disk.
public struct FileExecutor: Sendable {
  private let execute: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Creates an executor from a function that calls its argument once, on any thread.
  public init(_ execute: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.execute = execute
  }

  /// Runs on threads of Dispatch, never on those that Swift tasks share.
  public static let dispatch: FileExecutor = {
    let queue = DispatchQueue(label: "CanonicalSync.files", attributes: .concurrent)
    return FileExecutor { work in queue.async(execute: work) }
  }()

  /// Runs on the caller's own thread, for simulators that schedule everything themselves.
  public static let inline = FileExecutor { work in work() }

  /// Runs work and waits for its result without blocking the caller's thread.
  func run<Value: Sendable, Failure>(
    _ work: @escaping @Sendable () -> Result<Value, Failure>
  ) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { continuation in
      execute { continuation.resume(returning: work()) }
    }
    return try result.get()
  }
}
