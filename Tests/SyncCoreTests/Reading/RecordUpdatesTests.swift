import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Observed queries", .timeLimit(.minutes(10)))
struct RecordUpdatesTests {
  struct Team: SyncedRecord, Codable, Equatable, Identifiable {
    static let recordType: RecordType = "teams"
    static let name = Field<Team, String>("name")
    var id: String
    var name: String
  }

  @Test func giveTheResultNowAndAfterEachChangeThatTouchesIt() async throws {
    let world = try await World()
    world.addTeams(1...2)
    _ = try await world.engine.sync()
    var updates = world.engine.records.observe(Team.self, where: Team.name == "Team").makeAsyncIterator()
    #expect(try await updates.next()?.map(\.key) == ["t1", "t2"])
    // Changes before the request are one result.
    try await world.engine.edits.upsert(Team(id: "t3", name: "Team"))
    try await world.engine.edits.upsert(Team(id: "t2", name: "Owls"))
    let edited = try #require(try await updates.next())
    #expect(edited.map(\.key) == ["t1", "t3"])
    #expect(edited.map(\.hasPendingEdit) == [false, true])
    // A pull's commit is one, too, and a change of another record or type is none.
    world.addGame("g1", home: "t1", away: "t2")
    world.remote.upsert("teams", "t4", #"{"id":"t4","name":"Bats"}"#)
    _ = try await world.engine.sync()
    world.remote.upsert("teams", "t1", #"{"id":"t1","name":"Team","x":1}"#)
    world.remote.delete("teams", "t2")
    _ = try await world.engine.sync()
    let pulled = try #require(try await updates.next())
    #expect(pulled.map(\.key) == ["t1", "t3"])
    #expect(pulled[0].version > edited[0].version)
  }

  @Test func noteThatAnEditIsNotPendingAnyMore() async throws {
    let world = try await PushWorld()
    struct Meter: SyncedRecord, Codable {
      static let recordType: RecordType = "meters"
      var name: String
    }
    try await world.engine.edits.upsert(Meter(name: "A"), key: "m")
    var updates = world.engine.records.observe(Meter.self).makeAsyncIterator()
    #expect(try await updates.next()?.map(\.hasPendingEdit) == [true])
    _ = try await world.engine.sync()
    #expect(try await updates.next()?.map(\.hasPendingEdit) == [false])
  }

  @Test func asValuesFollowOnlyWhatChangesAValue() async throws {
    let world = try await World()
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    var updates = world.engine.records.observe(Team.self).makeAsyncIterator()
    _ = try await updates.next()
    async let seen = Self.names(in: world.engine.records.observe(Team.self).values, through: "Bats")
    _ = await world.clock.nextSleep()
    // A version and a member that the type does not decode.
    world.remote.upsert("teams", "t1", #"{"id":"t1","name":"Team","x":1}"#)
    _ = try await world.engine.sync()
    #expect(try await updates.next()?.map(\.name) == ["Team"])
    // The state of an edit.
    try await world.engine.edits.upsert(Team(id: "t1", name: "Team"))
    world.remote.upsert("teams", "t2", #"{"id":"t2"}"#)
    world.remote.upsert("teams", "t1", #"{"id":"t1","name":"Bats"}"#)
    _ = try await world.engine.sync()
    let elements = try await seen
    #expect(elements.first?.map(\.name) == ["Team"])
    #expect(elements.last?.leftOut.map(\.id.key) == ["t2"])
    #expect(
      !zip(elements, elements.dropFirst()).contains { $0.elementsEqual($1) && $0.leftOut == $1.leftOut })
  }

  /// The elements until the first team has a name.
  private static func names(
    in values: some AsyncSequence<RecordList<Team>, SyncError> & Sendable, through last: String
  ) async throws -> [RecordList<Team>] {
    var elements: [RecordList<Team>] = []
    for try await teams in values {
      elements.append(teams)
      if teams.first?.name == last { break }
    }
    return elements
  }

  @Test func neverGoBackAndEndWithTheNewest() async throws {
    let world = try await World()
    let engine = world.engine
    let last = 60
    async let observed = Self.numbers(in: engine.records.observe(Team.self), through: last)
    for number in 1...last { try await engine.edits.upsert(Team(id: "t", name: "\(number)")) }
    let numbers = try await observed
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(numbers.last == last)
  }

  /// The names of the first team, until one is the last number.
  private static func numbers(in updates: RecordUpdates<Team>, through last: Int) async throws -> [Int] {
    var numbers: [Int] = []
    for try await teams in updates {
      guard let number = teams.first.flatMap({ Int($0.name) }) else { continue }
      numbers.append(number)
      if number == last { break }
    }
    return numbers
  }

  @Test func hearAnotherEngineOnTheSameStore() async throws {
    let world = try await World()
    let other = try await SyncEngine(schema: world.engine.schema, store: world.store, source: world.remote)
    async let names = Self.numbers(in: world.engine.records.observe(Team.self), through: 2)
    #expect(await world.clock.nextSleep() == .milliseconds(250))
    try await other.edits.upsert(Team(id: "t1", name: "2"))
    world.clock.advance(by: .milliseconds(250))
    #expect(try await names == [2])
    #expect(world.clock.sleepers == 0)
  }

  @Test func readAgainAfterAReadThatFailed() async throws {
    let world = try await World()
    let store = RestlessStore(world.store)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock)
    var updates = engine.records.observe(Team.self).makeAsyncIterator()
    #expect(try await updates.next()?.isEmpty == true)
    // Another process commits, and the read that follows fails.
    try await world.engine.edits.upsert(Team(id: "t1", name: "Owls"))
    store.failNextRead()
    async let time: Void = world.clock.passNextSleep(.milliseconds(250))
    await #expect(throws: SyncError.self) { _ = try await updates.next() }
    await time
    // Nothing else is committed, and no time passes.
    #expect(try await updates.next()?.map(\.key) == ["t1"])
  }

  @Test func ofTheEngineReadAgainAfterAReadThatFailed() async throws {
    let world = try await World()
    let store = RestlessStore(world.store)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock)
    async let change = Self.first(of: engine.changes())
    #expect(await world.clock.nextSleep() == .milliseconds(250))
    store.failNextRead()
    try await world.engine.edits.upsert(Team(id: "t1", name: "Owls"))
    world.clock.advance(by: .milliseconds(250))
    // The next look finds the store well.
    await world.clock.passNextSleep(.milliseconds(250))
    #expect(await change == .records([RecordID(type: "teams", key: "t1")]))
  }

  private static func first(
    of changes: some AsyncSequence<ChangedRecords, Never> & Sendable
  ) async -> ChangedRecords? {
    await changes.first { _ in true }
  }

  /// Each of them asked four times a second, so that many were a load where nothing happened.
  @Test func askTheStoreTogether() async throws {
    let world = try await World()
    let store = RestlessStore(world.store)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock)
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<20 {
        group.addTask { try await Self.numbers(in: engine.records.observe(Team.self), through: 1) }
      }
      for _ in 0..<8 { await world.clock.passNextSleep(.milliseconds(250)) }
      #expect(world.clock.sleepers <= 1)
      #expect(store.marks <= 20 + 8)
      try await world.engine.edits.upsert(Team(id: "t1", name: "1"))
      // Not all of them may be waiting yet.
      let time = Task { while !Task.isCancelled { world.clock.advance(by: await world.clock.nextSleep()) } }
      for try await numbers in group { #expect(numbers == [1]) }
      time.cancel()
    }
  }

  @Test func askNothingOfAStoreThatTellsThem() async throws {
    let world = try await World()
    let store = RestlessStore(world.store, tells: true)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock)
    let numbers = Task { try await Self.numbers(in: engine.records.observe(Team.self), through: 1) }
    while store.waits == 0 { await Task.yield() }
    #expect(store.marks == 1 && world.clock.sleepers == 0)
    try await world.engine.edits.upsert(Team(id: "t1", name: "1"))
    // Commits in close succession are read together.
    await world.clock.passNextSleep(.milliseconds(250))
    #expect(try await numbers.value == [1])
    #expect(store.marks == 3)
  }

  @Test func goOnWhenTheOneThatAskedHasEnded() async throws {
    let world = try await World()
    let store = RestlessStore(world.store)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: store, source: world.remote, clock: world.clock)
    let first = Task { try await Self.numbers(in: engine.records.observe(Team.self), through: 1) }
    #expect(await world.clock.nextSleep() == .milliseconds(250))
    var second = engine.records.observe(Team.self).makeAsyncIterator()
    #expect(try await second.next()?.isEmpty == true)
    async let end: Void = { () async throws -> Void in
      try await world.engine.edits.upsert(Team(id: "t1", name: "1"))
      first.cancel()
      await world.clock.passNextSleep(.milliseconds(250))
    }()
    #expect(try await second.next()?.map(\.key) == ["t1"])
    try await end
    #expect(try await first.value.isEmpty)
    #expect(world.clock.sleepers == 0)
  }

  @Test func endWithTheirTaskAndLeaveNoWaitBehind() async throws {
    let world = try await World()
    let engine = world.engine
    let task = Task {
      var count = 0
      for try await _ in engine.records.observe(Team.self) { count += 1 }
      return count
    }
    _ = await world.clock.nextSleep()
    task.cancel()
    #expect(try await task.value == 1)
    #expect(world.clock.sleepers == 0)
  }

  @Test func reportWhatDoesNotDecodeAndWhatCannotBeRead() async throws {
    let world = try await World()
    world.remote.upsert("teams", "t1", "{}")
    _ = try await world.engine.sync()
    var updates = world.engine.records.observe(Team.self).makeAsyncIterator()
    #expect(try await updates.next()?.leftOut.map(\.id.key) == ["t1"])
    struct Venue: SyncedRecord { static let recordType: RecordType = "venues" }
    await #expect(throws: SyncError.self) {
      var venues = world.engine.records.observe(Venue.self).makeAsyncIterator()
      _ = try await venues.next()
    }
  }
}

/// A store that another process writes too, and one of whose reads fails.
private final class RestlessStore: SharedStore {
  private let store: InMemoryStore
  private let isFailing = Mutex(false)
  private let asked = Atomic(0)
  private let waiting = Atomic(0)
  private let tells: Bool

  /// - Parameter tells: Whether it tells of commits, or has to be asked.
  init(_ store: InMemoryStore, tells: Bool = false) { (self.store, self.tells) = (store, tells) }

  /// How often a mark was asked for.
  var marks: Int { asked.load(ordering: .relaxed) }

  /// How many wait to be told of a commit.
  var waits: Int { waiting.load(ordering: .relaxed) }

  func waitForCommit(after mark: CommitMark) async -> Bool {
    waiting.add(1, ordering: .relaxed)
    defer { waiting.subtract(1, ordering: .relaxed) }
    while tells, !Task.isCancelled {
      let last = try? await store.read { (snapshot) throws(SyncError) in try snapshot.changes(after: nil) }
      if let last, last.position.number > mark.others { return true }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  func failNextRead() { isFailing.withLock { $0 = true } }

  func commitMark() async throws(SyncError) -> CommitMark {
    asked.add(1, ordering: .relaxed)
    let last = try await store.read { (snapshot) throws(SyncError) in try snapshot.changes(after: nil) }
    return CommitMark(own: 0, others: last.position.number)
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let fails = isFailing.withLock { isFailing in
      defer { isFailing = false }
      return isFailing
    }
    if fails { throw SyncError(.storeBusy, during: "reading") }
    return try await store.read(body)
  }

  func register(_ schema: SyncSchema) async throws(SyncError) { try await store.register(schema) }
  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R { try await store.write(authority, body) }
  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    try await store.acquireLease(for: duration)
  }
  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    try await store.renew(lease, for: duration)
  }
  func release(_ lease: Lease) async throws(SyncError) { try await store.release(lease) }
}

extension ManualClock {
  /// Waits for a sleep of a length, and lets it pass.
  fileprivate func passNextSleep(_ length: Duration) async {
    #expect(await nextSleep() == length)
    advance(by: length)
  }
}
