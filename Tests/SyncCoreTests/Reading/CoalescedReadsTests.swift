import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Reads of single records at the same time", .timeLimit(.minutes(10)))
struct CoalescedReadsTests {
  private struct Note: SyncedRecord, Encodable, Equatable {
    static let recordType: RecordType = "notes"
    var number: Int
  }
  private struct Tag: SyncedRecord, Encodable, Equatable {
    static let recordType: RecordType = "tags"
    var number: Int
  }
  private typealias Finding<Value: SyncedRecord> = Task<Stored<Value>?, any Error>

  /// Two reads under way, and then some that wait for them.
  private struct Crowd {
    let store: GatedStore
    let records: LocalRecords
    let edits: LocalEdits

    /// - Parameter inTurn: Whether the store reads in turn by itself.
    init(inTurn: Bool = false) async throws {
      store = GatedStore(base: InMemoryStore(), readsInTurn: inTurn)
      let schema = try SyncSchema(Entity("notes"), Entity("tags"))
      let engine = try await SyncEngine(schema: schema, store: store, source: InMemoryRemote())
      (records, edits) = (engine.records, engine.edits)
      for number in 0..<10 { try await edits.upsert(Note(number: number), key: "n\(number)") }
      try await edits.upsert(Tag(number: 7), key: "n7")
      store.isOpen = false
    }

    func find<Value: SyncedRecord>(_ type: Value.Type, _ key: String) -> Finding<Value> {
      let records = records
      return Task { try await records.find(type, key: key) }
    }

    /// Begins two reads, and others once those have come to the gate.
    func begin(_ keys: [String]) async throws -> [Finding<Note>] {
      var tasks = keys.prefix(2).map { find(Note.self, $0) }
      let end = ContinuousClock.now + .seconds(20)
      while store.waiting < tasks.count, ContinuousClock.now < end { await Task.yield() }
      tasks += keys.dropFirst(2).map { find(Note.self, $0) }
      for _ in 0..<500 { await Task.yield() }
      return tasks
    }
  }

  @Test(arguments: [false, true]) func shareATransaction(inTurn: Bool) async throws {
    let crowd = try await Crowd(inTurn: inTurn)
    let before = crowd.store.reads
    let tasks = try await crowd.begin((0..<10).map { "n\($0)" } + ["none", "n3"])
    let tag = crowd.find(Tag.self, "n7")
    #expect(crowd.store.reads == before + 2)
    crowd.store.isOpen = true
    var found: [Int?] = []
    for task in tasks {
      let note = try await task.value
      found.append(note?.number)
      #expect((note?.edit != nil) == (note != nil))
    }
    #expect(found == (0..<10).map { $0 } + [nil, 3])
    #expect(try await tag.value?.value == Tag(number: 7))
    // Thirteen records, of which some may have come late.
    #expect(crowd.store.reads <= before + 6)
  }

  @Test(arguments: [false, true]) func seeWhatWasCommittedBeforeThem(inTurn: Bool) async throws {
    let crowd = try await Crowd(inTurn: inTurn)
    let first = try await crowd.begin(["n1", "n3"])
    try await crowd.edits.upsert(Note(number: 100), key: "n3")
    let late = crowd.find(Note.self, "n3")
    for _ in 0..<500 { await Task.yield() }
    crowd.store.isOpen = true
    // The read under way saw the state before.
    #expect(try await first[1].value?.number == 3)
    #expect(try await late.value?.number == 100)
  }

  @Test(arguments: [false, true]) func endAtOnceWhenTheyAreCancelled(inTurn: Bool) async throws {
    let crowd = try await Crowd(inTurn: inTurn)
    let tasks = try await crowd.begin((0..<8).map { "n\($0)" })
    for task in tasks[3...5] { task.cancel() }
    for task in tasks[3...5] {
      let error = await #expect(throws: SyncError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
    crowd.store.isOpen = true
    for (number, task) in tasks.enumerated() where !(3...5).contains(number) {
      #expect(try await task.value?.number == number)
    }
  }

  @Test func endAtOnceWhileAnotherReadsForThem() async throws {
    let crowd = try await Crowd()
    let tasks = try await crowd.begin((0..<8).map { "n\($0)" })
    // One of those that waited reads for the others, and is cancelled.
    crowd.store.failing = (crowd.store.reads + 1, SyncError(.cancelled, during: "reading"))
    crowd.store.isOpen = true
    crowd.store.isOpen = false
    for task in tasks.prefix(2) { _ = try await task.value }
    let end = ContinuousClock.now + .seconds(20)
    while crowd.store.waiting < 1, ContinuousClock.now < end { await Task.yield() }
    let ended = Count()
    let cancelled = tasks[3...5].map { task in
      Task {
        let error = await #expect(throws: SyncError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        ended.value.add(1, ordering: .relaxed)
      }
    }
    for task in tasks[3...5] { task.cancel() }
    // One of them may be the one that reads.
    while ended.value.load(ordering: .relaxed) < 2, ContinuousClock.now < end { await Task.yield() }
    #expect(ended.value.load(ordering: .relaxed) >= 2)
    crowd.store.isOpen = true
    for task in cancelled { await task.value }
    for number in [2, 6, 7] {
      do {
        #expect(try await tasks[number].value?.number == number)
      } catch let error as SyncError {
        #expect(error.code == .cancelled)
      }
    }
  }

  /// One of the others reads for them.
  @Test func goOnWhenTheOneThatReadsForThemIsCancelled() async throws {
    let crowd = try await Crowd()
    let tasks = try await crowd.begin((0..<8).map { "n\($0)" })
    crowd.store.failing = (crowd.store.reads + 1, SyncError(.cancelled, during: "reading"))
    crowd.store.isOpen = true
    var cancelled = 0
    for (number, task) in tasks.enumerated() {
      do {
        #expect(try await task.value?.number == number)
      } catch let error as SyncError {
        #expect(error.code == .cancelled)
        cancelled += 1
      }
    }
    #expect(cancelled == 1)
  }

  /// A shared read may fail because of one of the records.
  @Test(arguments: [false, true]) func goOnAloneAfterASharedFailure(inTurn: Bool) async throws {
    let crowd = try await Crowd(inTurn: inTurn)
    let tasks = try await crowd.begin((0..<8).map { "n\($0)" })
    let damage = SyncError(.storeUnreadable, during: "reading", "A record is damaged.")
    crowd.store.failing = (crowd.store.reads + 1, damage)
    crowd.store.isOpen = true
    for (number, task) in tasks.enumerated() { #expect(try await task.value?.number == number) }
    crowd.store.failing = (crowd.store.reads + 1, damage)
    await #expect(throws: SyncError.self) { try await crowd.records.find(Note.self, key: "n0") }
    #expect(try await crowd.records.find(Note.self, key: "n0")?.number == 0)
  }

  /// An actor whose find leads is busy afterwards; others' reads go on.
  @Test(arguments: [false, true]) func doNotWaitForTheActorOfAnother(inTurn: Bool) async throws {
    let crowd = try await Crowd(inTurn: inTurn)
    let keeper = Keeper()
    let leads = (0..<2).map { number in
      Task { try await keeper.find("n\(number)", in: crowd.records) }
    }
    let end = ContinuousClock.now + .seconds(20)
    while crowd.store.waiting < 2, ContinuousClock.now < end { await Task.yield() }
    let other = crowd.find(Note.self, "n5")
    for _ in 0..<500 { await Task.yield() }
    let isFree = Mutex(false)
    let busy = Task {
      await keeper.keepBusy { isFree.withLock { $0 } }
    }
    await keeper.busy()
    crowd.store.isOpen = true
    #expect(try await other.value?.number == 5)
    isFree.withLock { $0 = true }
    await busy.value
    for (number, lead) in leads.enumerated() { #expect(try await lead.value == number) }
  }

  private final class Count: Sendable {
    let value = Atomic(0)
  }

  private actor Keeper {
    private nonisolated let isBusy = Mutex(false)

    func find(_ key: String, in records: LocalRecords) async throws -> Int? {
      try await records.find(Note.self, key: key)?.number
    }

    /// Blocks the actor until a condition holds.
    func keepBusy(_ isOver: @Sendable () -> Bool) {
      isBusy.withLock { $0 = true }
      let end = ContinuousClock.now + .seconds(20)
      while !isOver(), ContinuousClock.now < end {}
    }

    nonisolated func busy() async {
      while !isBusy.withLock({ $0 }) { await Task.yield() }
    }
  }
}

/// A store whose reads wait at a gate, after they have read.
private final class GatedStore: ForwardingStore, ReadingInTurn {
  let base: InMemoryStore
  let readsInTurn: Bool
  private struct State {
    var isOpen = true
    var reads = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var failing: (number: Int, error: SyncError)?
  }
  private let state = Mutex(State())

  init(base: InMemoryStore, readsInTurn: Bool) { (self.base, self.readsInTurn) = (base, readsInTurn) }

  func readInTurn<R: Sendable>(_ next: @escaping @Sendable () -> ReadTurn<R>?) {
    Task {
      while let turn = next() {
        do throws(SyncError) {
          turn.end(.success(try await read(turn.read)))
        } catch {
          turn.end(.failure(error))
        }
      }
    }
  }

  /// The number of reads so far.
  var reads: Int { state.withLock { $0.reads } }
  /// The number of reads at the gate.
  var waiting: Int { state.withLock { $0.waiting.count } }

  var isOpen: Bool {
    get { state.withLock { $0.isOpen } }
    set {
      let freed = state.withLock { state in
        state.isOpen = newValue
        defer { if newValue { state.waiting = [] } }
        return newValue ? state.waiting : []
      }
      for waiter in freed { waiter.resume() }
    }
  }

  /// The number of a read that fails, and its error.
  var failing: (number: Int, error: SyncError)? {
    get { state.withLock { $0.failing } }
    set { state.withLock { $0.failing = newValue } }
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let error = state.withLock { state -> SyncError? in
      state.reads += 1
      return state.failing.flatMap { $0.number == state.reads ? $0.error : nil }
    }
    let result = try await base.read(body)
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if passes { continuation.resume() }
    }
    if let error { throw error }
    return result
  }
}
