import SyncCore
import SyncModels
import Synchronization

/// The requests, pages and commits of the current sync in one process.
final class SyncBook: Sendable {
  private struct Entry {
    var pages: [(pass: Int64, position: PullPosition, page: RecordPage)] = []
    /// Whether a lookup failed since the last page.
    var hasLookupFailed = false
    var requests = Attempts()
    var wasServed = false
    var lastPage: RecordPage?

    /// Whether a request checks an old token while its pass has a first page already.
    ///
    /// The answer to such a request is not a page.
    func isInquiry(_ request: PageRequest) -> Bool {
      guard case .start(_?) = request.position else { return false }
      return pages.contains { $0.pass == request.pass }
    }

    /// Whether a request fetches the last page again, because the lookup of its contents failed.
    func isRepetition(_ request: PageRequest) -> Bool {
      guard hasLookupFailed, let last = pages.last, !last.page.present.isEmpty else { return false }
      return (last.pass, last.position) == (request.pass, request.position)
    }
  }
  private let state = Mutex<[RecordType: Entry]>([:])
  /// The edits whose push failed last. After a success, or a push of other edits, the next attempt
  /// is a first one.
  private let pushes = Mutex((type: RecordType?.none, keys: Set<IdempotencyKey>(), attempts: Attempts()))
  private let lease = Mutex<Int64>(0)
  private let options: SyncOptions

  /// The consecutive failed attempts at one operation.
  private struct Attempts {
    private var failures = 0
    private(set) var notBefore: Duration?

    /// Resets the count, and keeps the requested pause.
    mutating func beginAnew() { failures = 0 }

    mutating func fail(_ error: SyncError, at now: Duration) {
      // An invalid token is not a failed attempt: the pass starts over.
      if error.code == .tokenExpired { return failures = 0 }
      failures += 1
      notBefore = error.retryAfter.map { now + $0 }
    }

    /// The violations of another attempt.
    func complaints(_ attempt: String, at now: Duration, most: Int) -> [String] {
      var complaints: [String] = []
      if failures >= most {
        complaints.append(
          "\(attempt) again after \(Counted(failures, "failed attempt")), and \(most) are allowed")
      }
      if let notBefore, now < notBefore { complaints.append("\(attempt) \(notBefore - now) before it may") }
      return complaints
    }
  }

  init(options: SyncOptions) {
    self.options = options
  }

  /// The fencing number of the sync's lease.
  var fence: Int64 { lease.withLock { $0 } }

  /// Begins a sync.
  func begin(fence: Int64) {
    lease.withLock { $0 = fence }
    state.withLock { $0 = [:] }
    pushed()
  }

  /// Notes a push, and returns its violations.
  func pushing(_ changes: [OutgoingChange], at now: Duration) -> [String] {
    let (keys, type) = (Set(changes.map(\.key)), changes.first?.id.type)
    let attempts = pushes.withLock { pushes in
      if pushes.type != type { pushes.attempts = Attempts() }
      if pushes.keys != keys { pushes.attempts.beginAnew() }
      (pushes.type, pushes.keys) = (type, keys)
      return pushes.attempts
    }
    return attempts.complaints(
      "pushes edits of \(type?.rawValue ?? "no type")", at: now, most: options.retry.attempts)
  }

  /// Notes the answer to a push.
  func pushed() { pushes.withLock { $0 = (nil, [], Attempts()) } }

  /// Notes a failed push.
  func pushFailed(_ error: SyncError, at now: Duration) {
    pushes.withLock { $0.attempts.fail(error, at: now) }
  }

  /// Whether a requested pause of a type has not ended.
  func isPaused(_ type: RecordType) -> Bool { state.withLock { $0[type]?.requests.notBefore != nil } }

  func isFirstRequest(of type: RecordType) -> Bool {
    state.withLock { !($0[type]?.wasServed ?? false) }
  }

  func lastPage(of type: RecordType) -> RecordPage? { state.withLock { $0[type]?.lastPage } }

  /// Notes a request, and returns its violations.
  func request(
    _ request: PageRequest, at now: Duration, checkpoint: Checkpoint?,
    known: (schema: SyncSchema, fullPull: Set<RecordType>)
  ) -> [(Promise, String)] {
    let type = request.entity.type
    let entry = state.withLock { state in
      // A restarted pass uses no earlier pages.
      if case .start = request.position, state[type]?.isInquiry(request) == false {
        state[type]?.pages.removeAll { $0.pass == request.pass }
      }
      return state[type] ?? Entry()
    }
    var complaints = entry.requests
      .complaints("asks for a page of \(type)", at: now, most: options.retry.attempts)
      .map { (Promise.bounds, $0) }
    let pages = entry.isRepetition(request) ? entry.pages.dropLast() : entry.pages[...]
    let ahead =
      entry.isInquiry(request) ? 0 : pages.count { $0.pass == request.pass && !$0.page.changes.isEmpty }
    if ahead > options.pagesAhead {
      complaints.append((.bounds, "asks for more of \(type) with \(Counted(ahead, "page")) ahead"))
    }
    if !entry.wasServed, !known.fullPull.contains(type), let token = checkpoint?.inFlight?.resumeAt,
      checkpoint?.scope.schemaVersion == known.schema[type]?.schemaVersion,
      request.position != .resume(token)
    {
      complaints.append((.cancellation, "restarts \(type) where it could continue"))
    }
    return complaints
  }

  /// Notes a failed request.
  func failed(_ type: RecordType, _ error: SyncError, at now: Duration) {
    state.withLock { state in
      state[type, default: Entry()].requests.fail(error, at: now)
      if error.code == .tokenExpired { state[type, default: Entry()].wasServed = true }
    }
  }

  /// Notes that a lookup failed.
  ///
  /// A page of keys whose contents were to be looked up is then fetched again, and may differ.
  func lookupFailed(_ type: RecordType) { state.withLock { $0[type]?.hasLookupFailed = true } }

  /// Notes a page.
  func served(_ page: RecordPage, to request: PageRequest) {
    state.withLock { state in
      var entry = state[request.entity.type] ?? Entry()
      entry.requests = Attempts()
      entry.wasServed = true
      if entry.isInquiry(request) {
        state[request.entity.type] = entry
        return
      }
      entry.lastPage = page
      if case .reset = page.next {
        // Only a commit that has begun still uses pages of the invalid pass.
        entry.lastPage = nil
      } else {
        if entry.isRepetition(request) { entry.pages.removeLast() }
        entry.hasLookupFailed = false
        entry.pages.append((request.pass, request.position, page))
      }
      state[request.entity.type] = entry
    }
  }

  /// The pages that a checkpoint covers since the one before.
  ///
  /// It is `nil` if the checkpoint covers more than was sent.
  func claim(_ type: RecordType, before: Checkpoint?, after: Checkpoint) -> [RecordPage]? {
    // A checkpoint that only changes the type's remote covers no pages.
    if after.inFlight == nil, after.committed == nil, after.lastPass == before?.lastPass ?? 0 { return [] }
    return state.withLock { state in
      var entry = state[type] ?? Entry()
      defer { state[type] = entry }
      var queue = entry.pages.filter { $0.pass == after.lastPass }[...]
      var claimed: [RecordPage] = []
      if let pass = after.inFlight {
        let known = before?.inFlight.flatMap { $0.number == pass.number ? $0.fetched : nil } ?? 0
        var missing = pass.fetched - known
        while missing > 0, let page = queue.popFirst()?.page {
          missing -= page.listed
          claimed.append(page)
        }
        guard missing == 0 else { return nil }
      } else {
        var isComplete = false
        while !isComplete, let page = queue.popFirst()?.page {
          if case .done = page.next { isComplete = true }
          claimed.append(page)
        }
        guard isComplete else { return nil }
      }
      let later = entry.pages.filter { $0.pass > after.lastPass }
      entry.pages = queue + later
      return claimed
    }
  }
}
