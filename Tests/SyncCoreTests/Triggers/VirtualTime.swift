import InMemoryAdapters
import Synchronization

/// An executor on the calling thread with virtual time.
///
/// Time passes only when no job is ready. Tasks with this executor preference run one job after
/// another inside ``pass(until:)``. Every run is therefore equal, and a day takes as long as its
/// work.
final class VirtualTime: TaskExecutor {
  let clock: ManualClock
  private let jobs = Mutex<[UnownedJob]>([])

  init(_ clock: ManualClock) {
    self.clock = clock
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs all jobs that need no time to pass.
  func settle() {
    while true {
      let ready = jobs.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      if ready.isEmpty { return }
      for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Advances the clock to an absolute time, with a stop at each wake-up.
  func pass(until end: Duration) {
    settle()
    while let next = clock.nextDeadline?.offset, next <= end {
      clock.advance(by: max(next - clock.now.offset, .zero))
      settle()
    }
    clock.advance(by: max(end - clock.now.offset, .zero))
    settle()
  }
}
