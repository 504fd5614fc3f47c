import InMemoryAdapters
import Synchronization

/// A little world of tasks on the calling thread: time passes only when nobody has anything left to do.
///
/// Tasks started with it as their executor preference run one job after another inside ``pass(until:)``, so what happens is the same
/// each time, and a day takes as long as its work.
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

  /// Does what can be done without any time passing.
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

  /// Lets time pass until the clock was advanced so far in all, stopping wherever somebody wakes.
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
