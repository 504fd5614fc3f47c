import Dispatch

/// Runs all jobs of a test one after another in the order in which they come, so that it goes the same way each time.
package final class OneThread: TaskExecutor {
  private let queue = DispatchQueue(label: "one thread")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// The one that the current task runs on, for tasks that are no children of it.
  @TaskLocal package static var current: OneThread?

  /// Runs a body, and the child tasks that it starts, on a thread of their own.
  package static func run<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
    let thread = OneThread()
    return try await $current.withValue(thread) {
      try await withTaskExecutorPreference(thread) { try await body() }
    }
  }
}
