import Dispatch

/// A Dispatch queue as a serial executor.
package final class DispatchLane: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates a queue; its label is for debuggers.
  package init(label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
