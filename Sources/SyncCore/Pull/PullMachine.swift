import SyncModels

/// Decides each step of the pass over one type, and performs none of them.
///
/// The runner reports events (a page arrived, a request failed, pages are committed), and the
/// machine returns the next steps. At most one request and one commit are under way. Pages that
/// arrive meanwhile are committed together: at most `pagesAhead` pages and one are not in the store
/// yet.
struct PullMachine {
  /// A step.
  enum Action: Hashable {
    case fetch(PageRequest)
    case wait(Duration)
    /// Commit these successive pages in one transaction.
    case commit([PageCommit])
    case finish
    case fail(SyncError.Code)
  }

  let entity: Entity
  let settings: Settings
  /// The checkpoint after the commit of everything handed out so far.
  private(set) var checkpoint: Checkpoint
  private(set) var isResumed = false
  /// Whether no page of the pass has arrived in this sync.
  private(set) var isFirstAnswer = true

  private var state: State
  private var pass: Checkpoint.Pass
  /// Whether the next page is the first of the pass.
  private var isFirstPage = true
  private var stall = StallDetector()
  private var resets = 0
  /// An old token to show to the remote after the start of a complete listing.
  ///
  /// A request without a token cannot reveal that the remote was replaced. A request with the token
  /// before the listing would miss a replacement between the two. The listing's own token does not
  /// reveal that either.
  private var oldToken: SyncToken?
  private var queue = CommitQueue()

  /// The state of the listing. Commits of the pages that have arrived go on beside it.
  ///
  /// - `due` becomes `asking` once there is room for another page.
  /// - `asking` becomes `due` when a page arrives, and `listed` when the last one arrives. It stays
  ///   during the pause after a failure, and is `due` again after it.
  /// - `due` and `asking` become `due` for the first page of a new pass when the remote resets the
  ///   listing, and `failed` when the pass cannot go on.
  /// - `listed` and `failed` are final. The machine ends when all pages are committed.
  private enum State {
    /// The next request waits for room.
    case due(Question, failures: Int = 0)
    /// A request, or the pause before its next attempt, is under way.
    case asking(Question, failures: Int)
    case listed
    case failed(SyncError)
  }

  /// What a request asks for.
  private enum Question {
    case page(PullPosition)
    /// Whether the remote still knows an old token, while the listing's first page is held.
    case oldToken(SyncToken, first: RecordPage, arrivedAt: Timestamp)
  }

  /// The machine's settings besides the checkpoint.
  struct Settings {
    var scope: Checkpoint.Scope
    var capabilities: SourceCapabilities
    var pageSize: Int
    var pagesAhead: Int
    var retry: RetryPolicy
    var deletionCheckInterval: Duration
    var forcesFullPass = false
    /// Whether the complete pass begins an epoch, so that versions may be smaller than before.
    var beginsEpoch = false
    var maximumResets = 3
  }

  /// Prepares a pass that resumes at the checkpoint, or starts anew if that is void.
  init(entity: Entity, checkpoint stored: Checkpoint?, settings: Settings, now: Timestamp) {
    self.entity = entity
    self.settings = settings
    var checkpoint = stored ?? Checkpoint(scope: settings.scope)
    checkpoint.enter(settings.scope)
    if settings.beginsEpoch { checkpoint.epoch += 1 }
    if !settings.forcesFullPass, let pass = checkpoint.inFlight, let token = pass.resumeAt {
      self.pass = pass
      self.state = .due(.page(.resume(token)))
      self.isFirstPage = false
      self.isResumed = true
    } else {
      let needsEverything =
        settings.forcesFullPass
        || Self.isDeletionCheckDue(checkpoint, settings: settings, now: now)
      let base = needsEverything ? nil : checkpoint.inFlight.map(\.base) ?? checkpoint.committed
      self.pass = Checkpoint.Pass(
        number: checkpoint.lastPass + 1, base: base, coverage: base == nil ? .full : .delta)
      if base == nil, settings.capabilities.deltas != .fullOnly, let stored,
        stored.scope.source == settings.scope.source
      {
        oldToken = stored.committed ?? stored.inFlight?.candidate
      }
      self.state = .due(.page(.start(since: base)))
    }
    self.checkpoint = checkpoint
  }

  /// What the pass lists, as far as is known.
  var coverage: RecordPage.Coverage { pass.coverage }

  /// Whether an old token is being shown, to find out whether the remote was replaced.
  var isShowingOldToken: Bool {
    switch state {
    case .due(.oldToken, _), .asking(.oldToken, _): true
    case .due, .asking, .listed, .failed: false
    }
  }

  /// Why the pass cannot go on; `nil` if it can.
  var failure: SyncError? {
    if case .failed(let error) = state { error } else { nil }
  }

  /// The number of failed attempts at the current page.
  var failedAttempts: Int {
    switch state {
    case .due(_, let failures), .asking(_, let failures): failures
    case .listed, .failed: 0
    }
  }

  /// Returns the first steps.
  mutating func start() -> [Action] {
    fetchIfRoom()
  }

  /// Records that a page arrived.
  mutating func fetched(_ page: RecordPage, at now: Timestamp) -> [Action] {
    guard case .asking(let question, _) = state else { return [] }
    isFirstAnswer = false
    switch question {
    case .oldToken(_, let first, let arrival):
      return oldTokenAnswered(page.next, holding: first, arrivedAt: arrival)
    case .page(let position):
      if case .reset(let reason) = page.next { return reset(reason) }
      guard let oldToken else { return take(page, of: position, at: now) }
      state = .due(.oldToken(oldToken, first: page, arrivedAt: now))
      return fetchIfRoom()
    }
  }

  private mutating func take(
    _ page: RecordPage, of position: PullPosition, at now: Timestamp
  ) -> [Action] {
    if isFirstPage {
      pass.coverage = pass.base == nil ? .full : page.coverage
      pass.candidate = page.startToken
      // A total outside the range of counts is ignored.
      pass.total = page.total.flatMap { StoredNumbers.counts.contains(Int64($0)) ? $0 : nil }
    }
    if stall.isStuck(after: position, page: page) {
      return fail(
        "The remote keeps answering with the same continuation, or with pages without a change, so the listing would never end."
      )
    }
    queue.waiting.append(commit(of: page, at: now))
    isFirstPage = false
    switch page.next {
    case .more(let token, _): state = .due(.page(.resume(token)))
    case .done, .reset: state = .listed
    }
    return commitIfFree() + fetchIfRoom()
  }

  /// Handles the answer to the old token.
  ///
  /// Only whether the versions start over matters. The listed records are not needed.
  private mutating func oldTokenAnswered(
    _ answer: RecordPage.Continuation, holding first: RecordPage, arrivedAt arrival: Timestamp
  ) -> [Action] {
    if case .reset(.remoteReplaced) = answer {
      // The contents of a listing by keys were compared with copies of the former remote.
      if !first.present.isEmpty { return reset(.remoteReplaced) }
      checkpoint.epoch += 1
    }
    oldToken = nil
    return take(first, of: .start(since: nil), at: arrival)
  }

  /// Records that a request failed.
  mutating func fetchFailed(_ error: SyncError, random: UInt64) -> [Action] {
    guard case .asking(let question, let before) = state else { return [] }
    let failures = before + 1
    if error.code == .tokenExpired {
      guard case .oldToken(_, let first, let arrival) = question else { return reset(.tokenExpired) }
      return oldTokenAnswered(.reset(.tokenExpired), holding: first, arrivedAt: arrival)
    }
    guard let pause = settings.retry.pause(afterFailures: failures, error: error, random: random) else {
      return fail(error)
    }
    state = .asking(question, failures: failures)
    return [.wait(pause)]
  }

  /// Records that the pause is over.
  mutating func waited() -> [Action] {
    if case .asking(let question, let failures) = state { state = .due(question, failures: failures) }
    return fetchIfRoom()
  }

  /// Records that the pages of the last commit are in the store.
  mutating func committed() -> [Action] {
    queue.committing = []
    let actions = commitIfFree() + fetchIfRoom()
    guard actions.isEmpty else { return actions }
    switch state {
    case .failed(let error): return [.fail(error.code)]
    case .listed: return [.finish]
    case .due, .asking: return []
    }
  }

  /// Gives the pass up, after the pages that have arrived are committed.
  private mutating func fail(_ error: SyncError) -> [Action] {
    state = .failed(error)
    return queue.isEmpty ? [.fail(error.code)] : commitIfFree()
  }

  private mutating func fail(_ message: String) -> [Action] {
    fail(SyncError(.inconsistentData, during: "pulling \(entity.type)", message))
  }

  private mutating func fetchIfRoom() -> [Action] {
    guard case .due(let question, let failures) = state, queue.hasRoom(ahead: settings.pagesAhead) else {
      return []
    }
    state = .asking(question, failures: failures)
    let size = min(settings.pageSize, settings.capabilities.maximumPageSize ?? .max)
    let (position, limit) =
      switch question {
      case .page(let position): (position, size)
      case .oldToken(let token, _, _): (PullPosition.start(since: token), 1)
      }
    return [.fetch(PageRequest(entity: entity, position: position, limit: limit, pass: pass.number))]
  }

  private mutating func commitIfFree() -> [Action] {
    queue.commit().map { [.commit($0)] } ?? []
  }

  /// Returns the page with the checkpoint to save with it.
  private mutating func commit(of page: RecordPage, at now: Timestamp) -> PageCommit {
    let before = pass
    var unpublished: Checkpoint?
    pass.fetched += page.listed
    let clearsMarks = isFirstPage && pass.coverage == .full
    if clearsMarks { checkpoint.sweep = nil }
    checkpoint.lastPass = pass.number
    switch page.next {
    case .more(let token, let resumable):
      pass.resumeAt = resumable ? token : nil
      checkpoint.inFlight = pass
    case .done(let token):
      if pass.coverage == .full, entity.visibility == .wholeEntity {
        unpublished = checkpoint
        unpublished?.inFlight = before
      }
      // A delta that names no token keeps the token from which it started.
      checkpoint.committed = token ?? pass.candidate ?? (pass.coverage == .delta ? pass.base : nil)
      checkpoint.committedAt = now
      checkpoint.inFlight = nil
      if pass.coverage == .full {
        checkpoint.sweep = Checkpoint.Sweep(pass: pass.number, listed: pass.fetched)
      }
    case .reset:
      break
    }
    return PageCommit(
      page: page.stamped(epoch: checkpoint.epoch), pass: pass, checkpoint: checkpoint,
      clearsMarks: clearsMarks,
      isLast: checkpoint.inFlight == nil, unpublished: unpublished)
  }

  private mutating func reset(_ reason: ResetReason) -> [Action] {
    resets += 1
    guard resets <= settings.maximumResets else {
      return fail(
        "The remote keeps starting its listing over (\(reason.rawValue)); try again when it is quiet.")
    }
    let base = reason == .pageTokenExpired ? pass.base : nil
    if reason == .remoteReplaced {
      checkpoint.epoch += 1
      oldToken = nil
    } else if base == nil, settings.capabilities.deltas != .fullOnly {
      // The remote may also be replaced before the new listing begins, and only an old token
      // reveals that.
      oldToken = pass.base ?? pass.candidate ?? oldToken
    }
    if reason == .selectionChanged, checkpoint.sweptPass > 0 { checkpoint.hasNewQuery = true }
    pass = Checkpoint.Pass(
      number: max(pass.number, checkpoint.lastPass) + 1, base: base,
      coverage: base == nil ? .full : .delta)
    isFirstPage = true
    isResumed = false
    state = .due(.page(.start(since: base)))
    stall = StallDetector()
    // Fetched but uncommitted pages of the void pass are fetched again.
    queue.waiting = []
    return fetchIfRoom()
  }

  private static func isDeletionCheckDue(
    _ checkpoint: Checkpoint, settings: Settings, now: Timestamp
  ) -> Bool {
    let capabilities = settings.capabilities
    // A remote that is quiet may answer that nothing has changed, and a record is still in doubt.
    guard capabilities.deltas != .fullOnly else { return checkpoint.needsSecondListing }
    // Deletions before the last reset have no tombstones, so only a second complete listing can
    // find them.
    if capabilities.sendsTombstones || capabilities.sweepsByItself { return checkpoint.needsSecondListing }
    guard let last = checkpoint.deletionsVerifiedAt else {
      // A bundled token starts a delta. The pass after that delta finds what was deleted since the
      // bundle was made.
      return checkpoint.committed == nil || checkpoint.lastPass > 0
    }
    // A time in the future was stamped by a wrong clock.
    return last > now || now >= last + settings.deletionCheckInterval
  }
}

/// Detects a listing that goes round in circles, in constant memory.
///
/// A continuation leads nowhere if it equals the request's own, or one seen before in the pass
/// (found by R. P. Brent's method, BIT 20, 1980). The first may be an answer that was sent twice.
/// The second is an error, never "done". So are a thousand pages in succession without a change.
struct StallDetector {
  /// The most pages in succession without a change.
  static let emptyPages = 1000

  private var strikes = 0
  private var empty = 0
  private var landmark: PageToken?
  private var pages = 0
  private var stride = 1

  /// Records a page and its request, and returns whether the listing is stuck.
  mutating func isStuck(after position: PullPosition?, page: RecordPage) -> Bool {
    guard case .more(let token, _) = page.next else { return false }
    if position == .resume(token) || landmark == token { strikes += 1 }
    empty = page.changes.isEmpty && page.leftOut == 0 && !page.endsList ? empty + 1 : 0
    pages += 1
    if pages == stride {
      landmark = token
      pages = 0
      stride *= 2
    }
    return strikes >= 2 || empty >= Self.emptyPages
  }
}

/// The pages of a pass that have arrived and are not in the store yet.
struct CommitQueue {
  /// The pages that are being committed.
  var committing: [PageCommit] = []
  /// The pages to commit together once those are in the store.
  var waiting: [PageCommit] = []

  /// The most bytes of memory for three or more uncommitted pages.
  static let bytesAhead = 4 << 20

  var isEmpty: Bool { committing.isEmpty && waiting.isEmpty }

  /// Whether another page may be fetched.
  ///
  /// - Parameter ahead: The number of pages besides one that may be uncommitted.
  func hasRoom(ahead: Int) -> Bool {
    let pages = committing.count + waiting.count
    guard pages <= ahead else { return false }
    return pages < 2 || (committing + waiting).reduce(0) { $0 + $1.size } < Self.bytesAhead
  }

  /// Returns the pages to commit now; `nil` while others are being committed.
  mutating func commit() -> [PageCommit]? {
    guard committing.isEmpty, !waiting.isEmpty else { return nil }
    swap(&committing, &waiting)
    return committing
  }
}

/// A page to commit, with the checkpoint that its transaction saves.
struct PageCommit: Hashable {
  var page: RecordPage
  /// The pass that the page belongs to.
  var pass: Checkpoint.Pass
  /// The checkpoint as of this page.
  var checkpoint: Checkpoint
  /// Whether a complete listing begins with this page.
  var clearsMarks: Bool
  /// Whether the pass is complete with this page.
  var isLast: Bool
  /// The checkpoint while the absences of a whole type's listing are being confirmed.
  ///
  /// If the confirmation is cut short, the last page is fetched again. `nil` for all other pages.
  var unpublished: Checkpoint?
  /// The approximate size of the page in memory, in bytes.
  let size: Int

  init(
    page: RecordPage, pass: Checkpoint.Pass, checkpoint: Checkpoint, clearsMarks: Bool, isLast: Bool,
    unpublished: Checkpoint? = nil
  ) {
    self.page = page
    self.pass = pass
    self.checkpoint = checkpoint
    self.clearsMarks = clearsMarks
    self.isLast = isLast
    self.unpublished = unpublished
    size = page.changes.reduce(0) { $0 + $1.size }
  }

  /// The complete listing whose records are marked; `nil` without one.
  ///
  /// It is under way, or waits for its sweep.
  var markPass: Int64? {
    pass.coverage == .full ? pass.number : checkpoint.sweep?.pass
  }
}

extension RecordPage {
  /// Returns the page with the remote's epoch in its versions. Most remotes have only the first.
  func stamped(epoch: Int64) -> RecordPage {
    guard epoch != 0 else { return self }
    var page = self
    page.changes = changes.map { $0.stamped(epoch: epoch) }
    return page
  }
}

extension RecordChange {
  /// The approximate size of the change in memory, in bytes.
  ///
  /// A record's fields take about as much again as its payload.
  fileprivate var size: Int {
    switch self {
    case .upsert: 256 + 2 * payloadSize
    case .tombstone, .malformed: 256 + payloadSize
    }
  }

  /// The number of bytes that the remote sent for the record.
  var payloadSize: Int {
    switch self {
    case .upsert(let record): record.payload.bytes.count
    case .tombstone: 0
    case .malformed(let malformed): malformed.bytes.bytes.count
    }
  }

  /// Returns the change with the remote's epoch in its version.
  func stamped(epoch: Int64) -> RecordChange {
    switch self {
    case .upsert(var record):
      record.version.epoch = epoch
      return .upsert(record)
    case .tombstone(var tombstone):
      tombstone.version.epoch = epoch
      return .tombstone(tombstone)
    case .malformed:
      return self
    }
  }
}
