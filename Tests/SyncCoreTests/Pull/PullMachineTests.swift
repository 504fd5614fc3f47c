import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("The pull machine")
struct PullMachineTests {
  static let entity = Entity("games")
  static let scope = Checkpoint.Scope(source: "s", query: "", schemaVersion: 1, store: "x")
  static let now = Timestamp(milliseconds: 1000)

  static func settings(
    deltas: SourceCapabilities.Deltas = .changeTokens, sendsTombstones: Bool = true, ahead: Int = 1
  ) -> PullMachine.Settings {
    PullMachine.Settings(
      scope: scope,
      capabilities: SourceCapabilities(deltas: deltas, sendsTombstones: sendsTombstones, listing: .snapshot),
      pageSize: 2, pagesAhead: ahead, retry: RetryPolicy(attempts: 3, base: .seconds(1)),
      deletionCheckInterval: .seconds(100))
  }

  static func machine(
    _ checkpoint: Checkpoint? = nil, settings: PullMachine.Settings = settings(), now: Timestamp = now
  ) -> PullMachine {
    PullMachine(entity: entity, checkpoint: checkpoint, settings: settings, now: now)
  }

  static func request(_ position: PullPosition, pass: Int64 = 1) -> PageRequest {
    PageRequest(entity: entity, position: position, limit: 2, pass: pass)
  }

  /// A request that checks an old token during a full listing.
  static func inquiry(_ token: String, pass: Int64 = 1) -> PageRequest {
    PageRequest(entity: entity, position: .start(since: SyncToken(token)), limit: 1, pass: pass)
  }

  static func page(_ next: RecordPage.Continuation, records: Int = 1, start: String? = nil) -> RecordPage {
    let malformed = RecordChange.malformed(MalformedRecord(type: "games", bytes: Payload([]), reason: "test"))
    return RecordPage(
      coverage: .full, changes: Array(repeating: malformed, count: records),
      startToken: start.map { SyncToken($0) }, next: next)
  }

  static func more(_ token: String, resumable: Bool = true) -> RecordPage.Continuation {
    .more(PageToken(token), resumable: resumable)
  }

  /// The only page to commit.
  static func commit(_ action: PullMachine.Action?) -> PageCommit? {
    guard case .commit(let pages)? = action, pages.count == 1 else { return nil }
    return pages[0]
  }

  @Test func fetchesOnePageAheadOfTheCommit() {
    var machine = Self.machine()
    #expect(machine.start() == [.fetch(Self.request(.start(since: nil)))])
    let first = machine.fetched(Self.page(Self.more("a")), at: Self.now)
    #expect(first.count == 2)
    #expect(first.last == .fetch(Self.request(.resume(PageToken("a")))))
    // The second page waits for the first one's commit, and no page is fetched meanwhile.
    #expect(machine.fetched(Self.page(Self.more("b")), at: Self.now).isEmpty)
    let next = machine.committed()
    #expect(next.count == 2)
    #expect(next.last == .fetch(Self.request(.resume(PageToken("b")))))
  }

  @Test func commitsTogetherWhatCameMeanwhile() {
    var machine = Self.machine(settings: Self.settings(ahead: 3))
    _ = machine.start()
    #expect(Self.commit(machine.fetched(Self.page(Self.more("a")), at: Self.now).first) != nil)
    #expect(machine.fetched(Self.page(Self.more("b")), at: Self.now).count == 1)
    #expect(machine.fetched(Self.page(Self.more("c")), at: Self.now).count == 1)
    // One page is being committed, and three are ahead of it.
    #expect(machine.fetched(Self.page(Self.more("d")), at: Self.now).isEmpty)
    let actions = machine.committed()
    guard case .commit(let pages)? = actions.first else { return #expect(Bool(false), "no commit") }
    #expect(pages.map(\.checkpoint.inFlight?.resumeAt) == ["b", "c", "d"].map { PageToken($0) })
    #expect(actions.last == .fetch(Self.request(.resume(PageToken("d")))))
    // The three pages count until they are in the store.
    #expect(machine.fetched(Self.page(.done(nil)), at: Self.now).isEmpty)
    #expect(Self.commit(machine.committed().first)?.isLast == true)
    #expect(machine.committed() == [.finish])
  }

  @Test func keepsNoMoreThanOneLargePageAhead() {
    var machine = Self.machine(settings: Self.settings(ahead: 3))
    let bytes = Payload(Array(repeating: 0, count: CommitQueue.bytesAhead))
    func page(_ token: String) -> RecordPage {
      let malformed = RecordChange.malformed(MalformedRecord(type: "games", bytes: bytes, reason: "test"))
      return RecordPage(coverage: .full, changes: [malformed], next: Self.more(token))
    }
    _ = machine.start()
    #expect(machine.fetched(page("a"), at: Self.now).count == 2)
    #expect(machine.fetched(page("b"), at: Self.now).isEmpty)
    #expect(machine.committed().last == .fetch(Self.request(.resume(PageToken("b")))))
  }

  @Test func fetchesNothingAheadWhenToldSo() {
    var machine = Self.machine(settings: Self.settings(ahead: 0))
    _ = machine.start()
    #expect(machine.fetched(Self.page(Self.more("a")), at: Self.now).count == 1)
    #expect(machine.committed() == [.fetch(Self.request(.resume(PageToken("a"))))])
  }

  @Test(arguments: [Int.max, .min, -1])
  func takesNoTotalThatNoRemoteHas(_ total: Int) {
    var machine = Self.machine()
    _ = machine.start()
    var page = Self.page(Self.more("a"))
    page.total = total
    _ = machine.fetched(page, at: Self.now)
    #expect(machine.checkpoint.inFlight?.fetched == 1)
    #expect(machine.checkpoint.inFlight?.total == nil)
  }

  @Test func commitsTheTokenTakenBeforeTheFirstPageAndOnlyAtTheEnd() {
    var machine = Self.machine()
    _ = machine.start()
    _ = machine.fetched(Self.page(Self.more("a"), start: "before"), at: Self.now)
    #expect(machine.checkpoint.committed == nil)
    #expect(machine.checkpoint.inFlight?.candidate == SyncToken("before"))
    #expect(machine.checkpoint.inFlight?.resumeAt == PageToken("a"))
    _ = machine.fetched(Self.page(.done(nil), start: "later"), at: Self.now)
    #expect(machine.checkpoint.committed == SyncToken("before"))
    #expect(machine.checkpoint.inFlight == nil)
    #expect(machine.checkpoint.sweep == Checkpoint.Sweep(pass: 1, listed: 2))
    #expect(machine.committed().count == 1)
    #expect(machine.committed() == [.finish])
  }

  @Test func resumesAnInterruptedPassWhereTheSourceCan() {
    var checkpoint = Checkpoint(scope: Self.scope)
    checkpoint.lastPass = 7
    checkpoint.inFlight = Checkpoint.Pass(
      number: 7, base: SyncToken("t"), coverage: .delta, resumeAt: PageToken("p"))
    var machine = Self.machine(checkpoint)
    #expect(machine.start() == [.fetch(Self.request(.resume(PageToken("p")), pass: 7))])
    #expect(machine.isResumed)
  }

  @Test func startsAnInterruptedPassOverFromItsBaseWhereTheSourceCannotResume() {
    var checkpoint = Checkpoint(scope: Self.scope)
    checkpoint.lastPass = 7
    checkpoint.inFlight = Checkpoint.Pass(number: 7, base: SyncToken("t"), coverage: .delta)
    var machine = Self.machine(checkpoint)
    #expect(machine.start() == [.fetch(Self.request(.start(since: SyncToken("t")), pass: 8))])
  }

  @Test(arguments: [
    Checkpoint.Scope(source: "other", query: "", schemaVersion: 1, store: "x"),
    Checkpoint.Scope(source: "s", query: "other", schemaVersion: 1, store: "x"),
    Checkpoint.Scope(source: "s", query: "", schemaVersion: 2, store: "x"),
    Checkpoint.Scope(source: "s", query: "", schemaVersion: 1, store: "other"),
  ])
  func listsEverythingUnderAChangedScope(_ old: Checkpoint.Scope) {
    var checkpoint = Checkpoint(scope: old)
    checkpoint.committed = SyncToken("t")
    var machine = Self.machine(checkpoint)
    let listing: [PullMachine.Action] = [.fetch(Self.request(.start(since: nil)))]
    #expect(machine.start() == listing)
    let actions = machine.fetched(Self.page(Self.more("a")), at: Self.now)
    if old.source == "s" {
      #expect(actions == [.fetch(Self.inquiry("t"))])
      _ = machine.fetched(Self.page(Self.more("x")), at: Self.now)
    }
    #expect(machine.checkpoint.committed == nil)
    #expect(machine.checkpoint.epoch == (old.source == "s" && old.query.isEmpty ? 0 : 1))
  }

  @Test func asksForTheSamePageAfterAFailureThatMayPass() {
    var machine = Self.machine()
    _ = machine.start()
    let error = SyncError(.remoteUnavailable, during: "testing")
    let longest = Duration.seconds(1) * (1 - 0x1p-53)
    #expect(machine.fetchFailed(error, random: .max) == [.wait(longest)])
    #expect(machine.waited() == [.fetch(Self.request(.start(since: nil)))])
    #expect(machine.fetchFailed(error, random: 0) == [.wait(.zero)])
    _ = machine.waited()
    #expect(machine.fetchFailed(error, random: 0) == [.fail(error.code)])
  }

  @Test func failsOnlyAfterThePagesBeforeAreInTheStore() {
    var machine = Self.machine()
    _ = machine.start()
    _ = machine.fetched(Self.page(Self.more("a")), at: Self.now)
    let error = SyncError(.authentication, during: "testing")
    #expect(machine.fetchFailed(error, random: 0).isEmpty)
    #expect(machine.committed() == [.fail(error.code)])
  }

  @Test func takesAContinuationThatNeverAdvancesForAnErrorAndNeverForTheEnd() {
    var machine = Self.machine()
    _ = machine.start()
    _ = machine.fetched(Self.page(Self.more("a")), at: Self.now)
    _ = machine.committed()
    var actions: [PullMachine.Action] = []
    for _ in 0..<3 where !actions.contains(.fail(.inconsistentData)) {
      actions += machine.fetched(Self.page(Self.more("a"), records: 0), at: Self.now)
      if !actions.contains(.fail(.inconsistentData)) { actions += machine.committed() }
    }
    #expect(actions.contains(.fail(.inconsistentData)))
    #expect(!actions.contains(.finish))
  }

  @Test func noticesContinuationsThatGoRoundInACircle() {
    var machine = Self.machine(settings: Self.settings(ahead: 0))
    _ = machine.start()
    var failed = false
    for number in 0..<40 where !failed {
      failed = machine.fetched(Self.page(Self.more("t\(number % 3)")), at: Self.now).contains(
        .fail(.inconsistentData))
      if !failed { failed = machine.committed().contains(.fail(.inconsistentData)) }
    }
    #expect(failed)
  }

  @Test(arguments: [ResetReason.tokenExpired, .remoteReplaced])
  func startsANewPassWhenTheRemoteResets(_ second: ResetReason) {
    var checkpoint = Checkpoint(scope: Self.scope)
    checkpoint.lastPass = 3
    checkpoint.committed = SyncToken("old")
    var machine = Self.machine(checkpoint)
    #expect(machine.start() == [.fetch(Self.request(.start(since: SyncToken("old")), pass: 4))])
    let again = machine.fetched(Self.page(.reset(.tokenExpired)), at: Self.now)
    #expect(again == [.fetch(Self.request(.start(since: nil), pass: 5))])
    // The token had expired. The remote may also have been replaced before the listing began.
    let first = machine.fetched(Self.page(.done(SyncToken("new"))), at: Self.now)
    #expect(first == [.fetch(Self.inquiry("old", pass: 5))])
    let actions = machine.fetched(Self.page(.reset(second), records: 0), at: Self.now)
    guard let commit = Self.commit(actions.first) else { return #expect(Bool(false), "no commit") }
    #expect(commit.clearsMarks)
    #expect(commit.markPass == 5)
    #expect(commit.checkpoint.committed == SyncToken("new"))
    #expect(commit.checkpoint.epoch == (second == .remoteReplaced ? 1 : 0))
  }

  @Test func givesUpOnARemoteThatResetsWithoutEnd() {
    var machine = Self.machine()
    _ = machine.start()
    for _ in 0..<3 { _ = machine.fetched(Self.page(.reset(.contentChanged)), at: Self.now) }
    #expect(
      machine.fetched(Self.page(.reset(.contentChanged)), at: Self.now)
        == [.fail(.inconsistentData)])
  }

  @Test func listsEverythingFromTimeToTimeWhereDeletionsAreNotTold() {
    var checkpoint = Checkpoint(scope: Self.scope)
    checkpoint.committed = SyncToken("t")
    checkpoint.deletionsVerifiedAt = Self.now
    let settings = Self.settings(deltas: .modifiedSince(overlap: .seconds(5)), sendsTombstones: false)
    var soon = Self.machine(checkpoint, settings: settings, now: Self.now + .seconds(99))
    #expect(soon.start() == [.fetch(Self.request(.start(since: SyncToken("t"))))])
    var due = Self.machine(checkpoint, settings: settings, now: Self.now + .seconds(100))
    #expect(due.start() == [.fetch(Self.request(.start(since: nil)))])
    #expect(due.fetched(Self.page(.done(nil)), at: Self.now) == [.fetch(Self.inquiry("t"))])
    let actions = due.fetchFailed(SyncError(.tokenExpired, during: "x"), random: 0)
    guard let commit = Self.commit(actions.first) else { return #expect(Bool(false), "no commit") }
    #expect(commit.isLast)
  }

  @Test func learnsWhenItHasBegunToListEverythingThatTheRemoteWasReplaced() {
    var checkpoint = Checkpoint(scope: Self.scope)
    checkpoint.committed = SyncToken("t")
    var settings = Self.settings()
    settings.forcesFullPass = true
    var machine = Self.machine(checkpoint, settings: settings)
    #expect(machine.start() == [.fetch(Self.request(.start(since: nil)))])
    // An earlier check would miss changes, which neither token covers.
    #expect(machine.fetched(Self.page(Self.more("a")), at: Self.now) == [.fetch(Self.inquiry("t"))])
    // The answer to the old token is not a page of this pass, and does not count as a reset.
    let actions = machine.fetched(Self.page(.reset(.remoteReplaced), records: 0), at: Self.now)
    guard let commit = Self.commit(actions.first) else { return #expect(Bool(false), "no commit") }
    #expect(commit.checkpoint.epoch == 1)
    #expect(actions.last == .fetch(Self.request(.resume(PageToken("a")))))
  }
}
