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
    case fail(PullFailure)
  }

  let entity: Entity
  let settings: Settings
  /// The checkpoint after the commit of everything handed out so far.
  private(set) var checkpoint: Checkpoint
  private(set) var isResumed = false

  private var pass: Checkpoint.Pass
  private var isFirstPage = true
  private var position: PullPosition?
  private var isFetching = false
  /// The pages that are being committed.
  private var committing: [PageCommit] = []
  private var isListed = false
  private var waiting: [PageCommit] = []
  private var failures = 0
  private var resets = 0
  private var stall = StallDetector()
  private var failure: PullFailure?
  private var hasAnswered = false
  /// An old token to show to the remote after the start of a complete listing.
  ///
  /// A request without a token cannot reveal that the remote was replaced. A request with the token
  /// before the listing would miss a replacement between the two. The listing's own token does not
  /// reveal that either.
  private var witness: SyncToken?
  /// The first page, while the old token is shown to the remote.
  private var held: (page: RecordPage, since: Timestamp)?

  /// The most bytes of memory for three or more uncommitted pages.
  static let bytesAhead = 4 << 20

  /// The machine's settings besides the checkpoint.
  struct Settings {
    var scope: Checkpoint.Scope
    var capabilities: SourceCapabilities
    var pageSize: Int
    var pagesAhead: Int
    var retry: RetryPolicy
    var deletionCheckInterval: Duration
    var forcesFullPass = false
    var maximumResets = 3
  }

  /// Prepares a pass that resumes at the checkpoint, or starts anew if that is void.
  init(entity: Entity, checkpoint stored: Checkpoint?, settings: Settings, now: Timestamp) {
    self.entity = entity
    self.settings = settings
    var checkpoint = stored ?? Checkpoint(scope: settings.scope)
    checkpoint.enter(settings.scope)
    if !settings.forcesFullPass, let pass = checkpoint.inFlight, let token = pass.resumeAt {
      self.pass = pass
      self.position = .resume(token)
      self.isFirstPage = false
      self.isResumed = true
    } else {
      let needsEverything =
        settings.forcesFullPass
        || Self.isDeletionCheckDue(checkpoint, settings: settings, now: now)
      let base = needsEverything ? nil : checkpoint.inFlight.map(\.base) ?? checkpoint.committed
      self.pass = Checkpoint.Pass(
        number: checkpoint.lastPass + 1, base: base, coverage: base == nil ? .everything : .changes)
      if base == nil, settings.capabilities.deltas != .fullOnly, let stored,
        stored.scope.source == settings.scope.source
      {
        witness = stored.committed ?? stored.inFlight?.candidate
      }
      self.position = .start(since: base)
    }
    self.checkpoint = checkpoint
  }

  /// What the pass lists, as far as is known.
  var coverage: RecordPage.Coverage { pass.coverage }

  /// Whether an old token is being shown, to find out whether the remote was replaced.
  var isAskingAgain: Bool { held != nil }

  /// Returns the first steps.
  mutating func start() -> [Action] {
    fetchIfRoom()
  }

  /// Records that a page arrived.
  mutating func fetched(_ page: RecordPage, at now: Timestamp) -> [Action] {
    isFetching = false
    failures = 0
    hasAnswered = true
    if let held { return heardWitness(page.next, holding: held) }
    if case .reset(let reason) = page.next { return reset(reason) }
    if let witness {
      held = (page, now)
      position = .start(since: witness)
      return fetchIfRoom()
    }
    return take(page, at: now)
  }

  private mutating func take(_ page: RecordPage, at now: Timestamp) -> [Action] {
    if isFirstPage {
      pass.coverage = pass.base == nil ? .everything : page.coverage
      pass.candidate = page.startToken
      // A total outside the range of counts is ignored.
      pass.total = page.total.flatMap { StoredNumbers.counts.contains(Int64($0)) ? $0 : nil }
    }
    if stall.isStuck(after: position, page: page) { return fail(.stuck) }
    waiting.append(commit(of: page, at: now))
    isFirstPage = false
    switch page.next {
    case .more(let token, _): position = .resume(token)
    case .done, .reset:
      position = nil
      isListed = true
    }
    return commitIfFree() + fetchIfRoom()
  }

  /// Handles the answer to the old token.
  ///
  /// Only whether the versions start over matters. The listed records are not needed.
  private mutating func heardWitness(
    _ answer: RecordPage.Continuation, holding first: (page: RecordPage, since: Timestamp)
  ) -> [Action] {
    if case .reset(.remoteReplaced) = answer { checkpoint.epoch += 1 }
    (witness, held) = (nil, nil)
    position = .start(since: nil)
    return take(first.page, at: first.since)
  }

  /// Records that a request failed.
  mutating func fetchFailed(_ error: SyncError, random: UInt64) -> [Action] {
    isFetching = false
    failures += 1
    if error.code == .tokenExpired {
      guard let held else { return reset(.tokenExpired) }
      return heardWitness(.reset(.tokenExpired), holding: held)
    }
    guard let pause = settings.retry.pause(afterFailures: failures, error: error, random: random) else {
      return fail(.remote(error))
    }
    isFetching = true
    return [.wait(pause)]
  }

  /// Records that the pause is over.
  mutating func waited() -> [Action] {
    isFetching = false
    return fetchIfRoom()
  }

  /// Records that the pages of the last commit are in the store.
  mutating func committed() -> [Action] {
    committing = []
    let actions = commitIfFree() + fetchIfRoom()
    guard actions.isEmpty, !isFetching else { return actions }
    if let failure { return [.fail(failure)] }
    return isListed ? [.finish] : []
  }

  /// The number of failed attempts at the current page.
  var failedAttempts: Int { failures }

  /// Whether no page of the pass has arrived in this sync.
  var isFirstAnswer: Bool { !hasAnswered }

  /// Gives the pass up, after the pages that have arrived are committed.
  private mutating func fail(_ failure: PullFailure) -> [Action] {
    self.failure = failure
    position = nil
    return committing.isEmpty && waiting.isEmpty ? [.fail(failure)] : commitIfFree()
  }

  private mutating func fetchIfRoom() -> [Action] {
    guard failure == nil, let position, !isFetching,
      isRoom(among: committing.count + waiting.count)
    else {
      return []
    }
    isFetching = true
    let size = held == nil ? min(settings.pageSize, settings.capabilities.maximumPageSize ?? .max) : 1
    return [.fetch(PageRequest(entity: entity, position: position, limit: size, pass: pass.number))]
  }

  private func isRoom(among pages: Int) -> Bool {
    guard pages <= settings.pagesAhead else { return false }
    return pages < 2 || (committing + waiting).reduce(0) { $0 + $1.size } < Self.bytesAhead
  }

  private mutating func commitIfFree() -> [Action] {
    guard committing.isEmpty, !waiting.isEmpty else { return [] }
    swap(&committing, &waiting)
    return [.commit(committing)]
  }

  /// Returns the page with the checkpoint to save with it.
  private mutating func commit(of page: RecordPage, at now: Timestamp) -> PageCommit {
    let before = pass
    var unpublished: Checkpoint?
    pass.fetched += page.changes.count
    let clearsMarks = isFirstPage && pass.coverage == .everything
    if clearsMarks { checkpoint.sweep = nil }
    checkpoint.lastPass = pass.number
    switch page.next {
    case .more(let token, let resumable):
      pass.resumeAt = resumable ? token : nil
      checkpoint.inFlight = pass
    case .done(let token):
      if pass.coverage == .everything, entity.visibility == .wholeEntity {
        unpublished = checkpoint
        unpublished?.inFlight = before
      }
      // A delta that names no token keeps the token from which it started.
      checkpoint.committed = token ?? pass.candidate ?? (pass.coverage == .changes ? pass.base : nil)
      checkpoint.committedAt = now
      checkpoint.inFlight = nil
      if pass.coverage == .everything {
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
    guard resets <= settings.maximumResets else { return fail(.resetsWithoutEnd(reason)) }
    let base = reason == .pageTokenExpired ? pass.base : nil
    if reason == .remoteReplaced {
      checkpoint.epoch += 1
      witness = nil
    } else if base == nil, settings.capabilities.deltas != .fullOnly {
      // The remote may also be replaced before the new listing begins, and only an old token
      // reveals that.
      witness = pass.base ?? pass.candidate ?? witness
    }
    pass = Checkpoint.Pass(
      number: max(pass.number, checkpoint.lastPass) + 1, base: base,
      coverage: base == nil ? .everything : .changes)
    isFirstPage = true
    isListed = false
    isResumed = false
    position = .start(since: base)
    stall = StallDetector()
    // Fetched but uncommitted pages of the void pass are fetched again.
    waiting = []
    return fetchIfRoom()
  }

  private static func isDeletionCheckDue(
    _ checkpoint: Checkpoint, settings: Settings, now: Timestamp
  ) -> Bool {
    let capabilities = settings.capabilities
    guard capabilities.deltas != .fullOnly else { return false }
    // Deletions before the last reset have no tombstones, so only a second complete listing can
    // find them.
    if capabilities.sendsTombstones { return checkpoint.needsSecondListing }
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
/// The second is an error, never "done".
struct StallDetector {
  private var strikes = 0
  private var landmark: PageToken?
  private var pages = 0
  private var stride = 1

  /// Records a page and its request, and returns whether the listing is stuck.
  mutating func isStuck(after position: PullPosition?, page: RecordPage) -> Bool {
    guard case .more(let token, _) = page.next else { return false }
    if position == .resume(token) || landmark == token { strikes += 1 }
    pages += 1
    if pages == stride {
      landmark = token
      pages = 0
      stride *= 2
    }
    return strikes >= 2
  }
}
