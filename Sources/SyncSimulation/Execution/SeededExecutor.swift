import Synchronization

/// Runs the jobs of a world one at a time, on the creating thread.
///
/// A choice selects the next of the ready jobs. Each process of the world has a
/// ``ProcessExecutor``. A process can be stopped, as an operating system stops one.
final class SeededExecutor: Sendable {
  /// The executor preference for the tasks of one process.
  final class ProcessExecutor: TaskExecutor {
    let number: Int
    private let executor: SeededExecutor

    fileprivate init(_ number: Int, of executor: SeededExecutor) {
      self.number = number
      self.executor = executor
    }

    func enqueue(_ job: consuming ExecutorJob) {
      executor.add(UnownedJob(job), of: self)
    }
  }

  /// The ways to choose the next of the ready jobs.
  enum Habit: Int, CaseIterable {
    case inOrder, atRandom, newestFirst, inOrderMostly
  }

  private struct State {
    var ready: [(process: ProcessExecutor, job: UnownedJob)] = []
    var stopped: Set<Int> = []
    var steps = 0
    var foreignJobs = 0
    var habit = Habit.inOrder
  }
  private let state = Mutex(State())
  private let thread = ThreadIdentity.current
  private let choices: Choices
  private let trace: Trace

  init(choices: Choices, trace: Trace) {
    self.choices = choices
    self.trace = trace
  }

  /// The executor of a process.
  func processExecutor(_ number: Int) -> ProcessExecutor { ProcessExecutor(number, of: self) }

  /// The number of jobs that ran.
  var steps: Int { state.withLock { $0.steps } }

  /// The number of jobs from other threads. Any such job invalidates the run.
  var foreignJobs: Int { state.withLock { $0.foreignJobs } }

  func setHabit(_ habit: Habit) { state.withLock { $0.habit = habit } }

  /// Holds a process's jobs until the process is resumed.
  func stop(_ process: ProcessExecutor) { _ = state.withLock { $0.stopped.insert(process.number) } }

  func resume(_ process: ProcessExecutor) { _ = state.withLock { $0.stopped.remove(process.number) } }

  /// Resumes every process.
  func resumeAll() { state.withLock { $0.stopped = [] } }

  private func add(_ job: UnownedJob, of process: ProcessExecutor) {
    let isForeign = ThreadIdentity.current != thread
    state.withLock { state in
      if isForeign { state.foreignJobs += 1 }
      state.ready.append((process, job))
    }
  }

  /// Runs one ready job; false if there was none.
  func step() -> Bool {
    let (candidates, count, habit) = state.withLock { state -> ([Int]?, Int, Habit) in
      guard !state.stopped.isEmpty else { return (nil, state.ready.count, state.habit) }
      let candidates = state.ready.indices.filter { !state.stopped.contains(state.ready[$0].process.number) }
      return (candidates, candidates.count, state.habit)
    }
    guard count > 0 else { return false }
    let place = place(among: count, habit)
    let (process, job) = state.withLock { state in
      state.steps += 1
      return state.ready.remove(at: candidates?[place] ?? place)
    }
    trace.mix(UInt64(process.number))
    job.runSynchronously(on: process.asUnownedTaskExecutor())
    return true
  }

  private func place(among count: Int, _ habit: Habit) -> Int {
    switch habit {
    case .inOrder: 0
    case .atRandom: choices.below(count)
    case .newestFirst: choices.once(in: 8) ? choices.below(count) : count - 1
    case .inOrderMostly: choices.once(in: 8) ? choices.below(count) : 0
    }
  }
}
