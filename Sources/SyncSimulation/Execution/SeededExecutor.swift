import Synchronization

/// Runs the jobs of a world one at a time, on the thread that made it; which of those that are ready goes next is a choice.
///
/// Each process of the world has a ``Lane``, and a lane can be stopped, as an operating system stops a process.
final class SeededExecutor: Sendable {
  /// The tasks of one process, as an executor preference.
  final class Lane: TaskExecutor {
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

  /// How the next job is chosen among those that are ready.
  enum Habit: Int, CaseIterable {
    case inOrder, atRandom, newestFirst, inOrderMostly
  }

  private struct State {
    var ready: [(lane: Lane, job: UnownedJob)] = []
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

  /// A lane of its own for a process.
  func lane(_ number: Int) -> Lane { Lane(number, of: self) }

  /// How many jobs were run.
  var steps: Int { state.withLock { $0.steps } }

  /// How many jobs came from other threads; any makes the run worthless.
  var foreignJobs: Int { state.withLock { $0.foreignJobs } }

  func setHabit(_ habit: Habit) { state.withLock { $0.habit = habit } }

  /// Lets no job of a lane run until it is resumed.
  func stop(_ lane: Lane) { _ = state.withLock { $0.stopped.insert(lane.number) } }

  func resume(_ lane: Lane) { _ = state.withLock { $0.stopped.remove(lane.number) } }

  /// Resumes every lane.
  func resumeAll() { state.withLock { $0.stopped = [] } }

  private func add(_ job: UnownedJob, of lane: Lane) {
    let isForeign = ThreadIdentity.current != thread
    state.withLock { state in
      if isForeign { state.foreignJobs += 1 }
      state.ready.append((lane, job))
    }
  }

  /// Runs one of the jobs that are ready; whether there was one.
  func step() -> Bool {
    let (candidates, count, habit) = state.withLock { state -> ([Int]?, Int, Habit) in
      guard !state.stopped.isEmpty else { return (nil, state.ready.count, state.habit) }
      let candidates = state.ready.indices.filter { !state.stopped.contains(state.ready[$0].lane.number) }
      return (candidates, candidates.count, state.habit)
    }
    guard count > 0 else { return false }
    let place = place(among: count, habit)
    let (lane, job) = state.withLock { state in
      state.steps += 1
      return state.ready.remove(at: candidates?[place] ?? place)
    }
    trace.mix(UInt64(lane.number))
    job.runSynchronously(on: lane.asUnownedTaskExecutor())
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
