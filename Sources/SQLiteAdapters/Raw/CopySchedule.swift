#if SQLite
  /// Decides when to copy the log, and who does.
  ///
  /// Once the log is long, each pass beside the writer copies what was added during the pass before
  /// it. The passes become shorter, until the writer has to wait for a short one only.
  struct CopySchedule: Hashable {
    /// Limits of the log's length, in pages.
    struct Limits: Hashable {
      /// The number of pages that are copied together beside the writer.
      var part = 4096
      /// The number of pages that the first pass copies.
      ///
      /// Each further one copies as many as all before it, up to ``part``. A small sync then ends
      /// with little left to copy, and a large one soon copies large parts. Passes that a reader
      /// keeps from copying also become rarer.
      var firstPart = 256
      /// The number of pages that are copied together if the commit has flushed them.
      ///
      /// The flush of the copy is then short, and mostly over before the app's next edit flushes
      /// the log. The pass does not flush the log again.
      var flushedPart = 256
      /// The number of pages after which the log should restart.
      ///
      /// Index pages change repeatedly, and each copy writes them once. With random ids they are
      /// most of the writes (Tests/Benchmarks/Results.md).
      var whole = 16384
      /// The number of uncopied pages that the writer copies itself, to let the log restart.
      var end = 256
    }

    /// Who makes a pass.
    enum Pass: Hashable {
      case none, besideWriter, byWriter
    }

    let limits: Limits
    /// The place in the log up to which it has been copied beside the writer.
    private var copied = 0
    /// The number of pages that the last such pass copied.
    private var lastPart = 0
    /// The number of pages that such passes had to copy, at most a part.
    private var begunInAll = 0
    /// Whether such a pass is under way.
    private var isUnderWay = false
    /// The length of the log at the writer's last pass.
    private var endedAt = 0
    /// Whether a sync has written since the last pass.
    private var isOfSync = false
    /// Whether no pass may follow.
    private(set) var isStopped = false

    init(limits: Limits) {
      self.limits = limits
    }

    /// Decides on a pass after a commit that made the log so long.
    ///
    /// - Parameter isOnDisk: Whether the commit has flushed the log, which only an app's edits do.
    mutating func pass(at length: Int, isOnDisk: Bool = false) -> Pass {
      if isStopped { return .none }
      // The log has restarted, which it does only after all of it has been copied.
      if length < max(copied, endedAt) { (copied, lastPart, endedAt) = (0, 0, 0) }
      let rest = length - copied
      isOfSync = isOfSync || !isOnDisk
      // A log so long costs more than the wait, whatever keeps the passes long.
      if length >= 2 * limits.whole { return endPass(at: length) }
      guard !isUnderWay else { return .none }
      // The writer makes no pass in an edit beside a sync: the sync's next commit does.
      if isOnDisk, isOfSync { return rest < limits.flushedPart ? .none : beginPass(of: rest) }
      guard length >= limits.whole else { return rest < part ? .none : beginPass(of: rest) }
      // A writer that is as fast as the copier adds as much again during each pass.
      let isShort = rest <= limits.end || rest <= limits.part / 2 && rest * 5 > lastPart * 4
      return isShort ? endPass(at: length) : beginPass(of: rest)
    }

    /// Ends the passes, after a flush that failed.
    mutating func stop() { isStopped = true }

    /// Decides on a pass of a writer without a copier beside it.
    func passOfWriter(at length: Int) -> Pass {
      length >= limits.whole ? .byWriter : .none
    }

    /// Notes the end of a pass beside the writer.
    ///
    /// - Parameter place: The place in the log up to which it copied.
    mutating func passed(to place: Int) {
      (lastPart, copied, isUnderWay) = (place - copied, place, false)
    }

    private var part: Int { min(limits.part, max(limits.firstPart, begunInAll)) }

    private mutating func beginPass(of rest: Int) -> Pass {
      (isUnderWay, isOfSync) = (true, false)
      begunInAll = min(limits.part, begunInAll + rest)
      return .besideWriter
    }

    // A reader of an older state keeps the log from restarting after the pass. The writer tries
    // again some pages later, not with each commit.
    private mutating func endPass(at length: Int) -> Pass {
      guard length - endedAt >= limits.end / 4 else { return .none }
      endedAt = length
      return .byWriter
    }
  }
#endif
