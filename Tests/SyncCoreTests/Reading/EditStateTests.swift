import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

/// What an app shows of an edit beside its record.
@Suite("The state of an edit", .timeLimit(.minutes(10)))
struct EditStateTests {
  struct Meter: SyncedRecord, Codable {
    static let recordType: RecordType = "meters"
    var name: Int
  }
  struct Reading: SyncedRecord, Codable {
    static let recordType: RecordType = "readings"
    var meter: String
  }

  /// A sink with one answer for all edits; `nil` for the remote's own.
  private final class RulingSink: RemoteRecordSink {
    let base: InMemoryRemote
    let ruling: Mutex<PushOutcome?>

    init(_ base: InMemoryRemote, _ ruling: PushOutcome?) {
      self.base = base
      self.ruling = Mutex(ruling)
    }

    var identity: String { base.identity }
    var keepsUnknownMembers: Bool { base.keepsUnknownMembers }
    func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }
    func push(_ changes: [OutgoingChange], entities: SyncSchema) async throws(SyncError) -> [PushOutcome] {
      if let ruling = ruling.withLock({ $0 }) { return changes.map { _ in ruling } }
      return try await base.push(changes, entities: entities)
    }
  }

  private func state(_ world: PushWorld) async throws -> EditState? {
    try await world.engine.records.find(Meter.self, key: "m")?.edit
  }

  @Test(arguments: [
    (PushOutcome.refused(reason: "no room"), EditState.refused(reason: "no room")),
    (.unknown(reason: nil), .failed(retryAt: Timestamp(microseconds: 0))),
    (.retryLater(after: .seconds(60)), .failed(retryAt: Timestamp(microseconds: 0))),
  ])
  func tellsWhatTheRemoteSaid(_ ruling: PushOutcome, _ expected: EditState) async throws {
    let world = try await PushWorld(sink: { RulingSink($0, ruling) })
    try await world.write("meters", "m")
    #expect(try await state(world) == .pending)
    _ = try await world.engine.sync()
    switch (try await state(world), expected) {
    case (.failed(let instant)?, .failed): #expect(instant > world.clock.timestamp)
    case (let state, let expected): #expect(state == expected)
    }
  }

  @Test func anObservedQueryHearsOfIt() async throws {
    let sink = Mutex<RulingSink?>(nil)
    let world = try await PushWorld(sink: { remote in
      let ruling = RulingSink(remote, .refused(reason: "no"))
      sink.withLock { $0 = ruling }
      return ruling
    })
    try await world.write("meters", "m")
    var updates = world.engine.records.observe(Meter.self).makeAsyncIterator()
    #expect(try await updates.next()?.map(\.edit) == [.pending])
    _ = try await world.engine.sync()
    #expect(try await updates.next()?.map(\.edit) == [.refused(reason: "no")])
    sink.withLock { $0?.ruling.withLock { $0 = nil } }
    try await world.engine.edits.retry("meters")
    _ = try await world.engine.sync()
    var last: [EditState?] = [.pending]
    while last != [nil] { last = try #require(try await updates.next()).map(\.edit) }
  }

  @Test func theOutboxCanBeFollowed() async throws {
    let world = try await PushWorld()
    var edits = world.engine.edits.observe("meters").makeAsyncIterator()
    #expect(try await edits.next()?.isEmpty == true)
    try await world.write("meters", "m")
    #expect(try await edits.next()?.map(\.kind) == [.push])
    try await world.write("meters", "n")
    #expect(try await edits.next()?.map(\.entry.id.key) == ["m", "n"])
    _ = try await world.engine.sync()
    var count = 2
    while count > 0 { count = try #require(try await edits.next()).count }
  }

  @Test func aQueryWithReferencesHearsOfTheirTargets() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m", ["name": "1"])
    try await world.write("readings", "r", ["meter": #""m""#])
    var updates = world.engine.records.observe(Reading.self, including: ["meter"]).makeAsyncIterator()
    func name(_ list: RecordList<Included<Reading>>?) throws -> Int? {
      try list?.first?.reference("meter", as: Meter.self)?.name
    }
    #expect(try name(try await updates.next()) == 1)
    try await world.write("meters", "m", ["name": "2"])
    #expect(try name(try await updates.next()) == 2)
  }

  @Test func aPushTellsHowFarItIs() async throws {
    let world = try await PushWorld(configure: { $0.pushLimits.maximumRecords = 2 })
    for number in 1...5 { try await world.write("meters", "m\(number)") }
    _ = try await world.engine.sync()
    let steps = world.recorder.events.compactMap { event in
      if case .pushCommitted(let done, let total) = event { "\(done)/\(total)" } else { nil }
    }
    #expect(steps == ["2/5", "4/5", "5/5"])
  }
}
