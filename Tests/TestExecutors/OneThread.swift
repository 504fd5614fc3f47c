import Dispatch

/// Runs all jobs of a test in order of arrival, for repeatable runs.
package final class OneThread: TaskExecutor {
  private let queue = DispatchQueue(label: "one thread")

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// The current task's executor, for tasks that are not its children.
  @TaskLocal package static var current: OneThread?

  /// Runs a body and its child tasks on a separate thread.
  package static func run<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
    let thread = OneThread()
    return try await $current.withValue(thread) {
      try await withTaskExecutorPreference(thread) { try await body() }
    }
  }
}
