import SyncPorts
import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("The push machine")
struct PushMachineTests {
  static let now = Timestamp(milliseconds: 1000)
  static let busy = SyncError(.remoteUnavailable, during: "testing")

  static func entry(
    _ key: String, _ time: Int64 = 1, _ content: String? = "{}", type: RecordType = "meters"
  ) -> OutboxEntry {
    let content = content.map { Edit.Content.upsert(Payload(Array($0.utf8)), schemaVersion: 1) }
    let stamp = EditStamp(physical: Timestamp(milliseconds: time), replica: "a")
    return OutboxEntry(
      id: RecordID(type: type, key: key), edit: Edit(content ?? .deletion, stamp: stamp), base: .none)
  }

  static func portion(
    _ entries: [OutboxEntry], waiting: [String: [String]] = [:], count: Int? = nil
  ) -> LoadedPortion {
    LoadedPortion(
      candidates: entries.map { entry in
        let targets = waiting[entry.id.key, default: []].map { RecordID(type: "meters", key: $0) }
        return PushCandidate(entry: entry, waitsFor: targets)
      }, count: count ?? entries.count, last: entries.last?.edit.stamp)
  }

  static func sent(_ entries: [OutboxEntry]) -> [OutboxEntry] {
    entries.map { entry in
      var entry = entry
      entry.sent = entry.edit
      return entry
    }
  }

  static func machine(
    _ count: Int, limits: SinkLimits = SinkLimits(), portion: Int = 400
  ) -> PushMachine {
    var machine = PushMachine(
      [("meters", count)],
      settings: PushMachine.Settings(
        portion: portion, retry: RetryPolicy(attempts: 3, base: .seconds(1)), rounds: 2))
    #expect(machine.start() == .askLimits)
    #expect(
      machine.limitsTold(limits)
        == .load(PushPortion(type: "meters", stage: .upserts, after: nil, limit: portion)))
    return machine
  }

  static func accepted(_ entry: OutboxEntry) -> PushOutcome {
    .accepted(.tombstone(Tombstone(id: entry.id, version: Version(modifiedAt: now))))
  }

  static let deletions = PushMachine.Action.load(
    PushPortion(type: "meters", stage: .deletions, after: nil, limit: 400))

  /// The same batch, after a request without an answer.
  private static func again(_ action: PushMachine.Action) -> PushMachine.Action {
    guard case .send(let changes, _) = action else { return action }
    return .send(
      changes.map { change in
        var change = change
        change.mayHaveArrived = true
        return change
      })
  }

  @Test func preparesThenSendsThenSettlesThenReadsOn() {
    let entries = [Self.entry("a", 1), Self.entry("b", 2)]
    var machine = Self.machine(2)
    #expect(machine.loaded(Self.portion(entries)) == .prepare(entries.map(\.id), .upserts))
    let prepared = Self.sent(entries)
    #expect(machine.prepared(prepared) == .send(prepared.map(\.outgoing)))
    let outcomes = prepared.map(Self.accepted)
    #expect(
      machine.answered(outcomes, random: 0)
        == .settle(zip(prepared, outcomes).map { PushAnswer(entry: $0, outcome: $1) }))
    #expect(machine.settled([.accepted, .accepted]) == Self.deletions)
    #expect(machine.loaded(Self.portion([])) == .finish)
  }

  @Test func asksForNothingWhereNothingWaits() {
    var machine = PushMachine([])
    #expect(machine.start() == .finish)
  }

  @Test func goesThroughTheTypesThereAndBack() {
    var machine = PushMachine([("stadiums", 1), ("games", 1)])
    _ = machine.start()
    var legs: [PushPortion] = []
    var action = machine.limitsTold(SinkLimits())
    while case .load(let portion) = action {
      legs.append(portion)
      action = machine.loaded(Self.portion([]))
    }
    #expect(action == .finish)
    #expect(legs.map(\.type) == ["stadiums", "games", "games", "stadiums"])
    #expect(legs.map(\.stage) == [.upserts, .upserts, .deletions, .deletions])
  }

  @Test func readsOnlyAsManyEditsAsThereWereAtTheStart() {
    let entries = [Self.entry("a", 1), Self.entry("b", 2), Self.entry("c", 3)]
    var machine = Self.machine(3, portion: 2)
    _ = machine.loaded(Self.portion(Array(entries[..<2])))
    #expect(
      machine.prepared([])
        == .load(PushPortion(type: "meters", stage: .upserts, after: entries[1].edit.stamp, limit: 2)))
    // More edits were made meanwhile. This portion is full as well, and the last one of its leg.
    _ = machine.loaded(Self.portion(Array(entries[1...])))
    #expect(
      machine.prepared([])
        == .load(PushPortion(type: "meters", stage: .deletions, after: nil, limit: 2)))
  }

  @Test func breaksACircleOfNewRecordsAndLetsTheRestFollow() {
    let (a, b, c, d) = (Self.entry("a", 1), Self.entry("b", 2), Self.entry("c", 3), Self.entry("d", 4))
    // a and b refer to each other, c to one of them, and d to a record that is not pushed.
    var machine = Self.machine(4)
    let waiting = ["a": ["b"], "b": ["a"], "c": ["a"], "d": ["lost"]]
    let first = machine.loaded(Self.portion([c, d, a, b], waiting: waiting, count: 4))
    #expect(first == .prepare([a.id], .upserts))
    _ = machine.prepared(Self.sent([a]))
    _ = machine.answered([Self.accepted(a)], random: 0)
    #expect(machine.settled([.accepted]) == .prepare([c.id, b.id], .upserts))
    _ = machine.prepared(Self.sent([c, b]))
    _ = machine.answered([Self.accepted(c), Self.accepted(b)], random: 0)
    #expect(machine.settled([.accepted, .accepted]) == Self.deletions)
  }

  @Test func keepsToWhatTheSinkTakesAtOnce() {
    let entries = (1...5).map { Self.entry("m\($0)", Int64($0), #"{"n":\#($0)}"#) }
    var machine = Self.machine(5, limits: SinkLimits(maximumRecords: 3, maximumBytes: 14))
    #expect(machine.loaded(Self.portion(entries)) == .prepare(entries[..<2].map(\.id), .upserts))
    #expect(machine.prepared([]) == .prepare(entries[2..<4].map(\.id), .upserts))
    #expect(machine.prepared([]) == .prepare(entries[4...].map(\.id), .upserts))
  }

  @Test func sendsARecordThatIsLargerThanABatchAlone() {
    let entries = [Self.entry("a"), Self.entry("b", 2, #"{"long":"payload"}"#), Self.entry("c", 3)]
    var machine = Self.machine(3, limits: SinkLimits(maximumRecords: 9, maximumBytes: 4))
    #expect(machine.loaded(Self.portion(entries)) == .prepare([entries[0].id], .upserts))
    #expect(machine.prepared([]) == .prepare([entries[1].id], .upserts))
    #expect(machine.prepared([]) == .prepare([entries[2].id], .upserts))
  }

  @Test func sendsTheBatchAgainAsItWasAfterAFailureThatMayPass() {
    let entries = [Self.entry("a")]
    var machine = Self.machine(1)
    _ = machine.loaded(Self.portion(entries))
    let send = machine.prepared(Self.sent(entries))
    let longest = Duration.seconds(1) * (1 - 0x1p-53)
    #expect(machine.failed(Self.busy, random: .max) == .wait(longest))
    #expect(machine.waited() == Self.again(send))
    #expect(machine.failed(Self.busy, random: 0) == .wait(.zero))
    #expect(machine.waited() == Self.again(send))
    // No other edit shows whether the remote is unreachable.
    #expect(machine.failed(Self.busy, random: 0) == Self.deletions)
    #expect(machine.loaded(Self.portion([])) == .fail(.remoteUnavailable))
    #expect(machine.failure?.code == .remoteUnavailable)
    #expect(machine.suspects.flatMap(\.batch.entries).map(\.id.key) == ["a"])
  }

  @Test func takesTheRemoteForAwayWhereItFailsAtTwoEditsAlone() {
    let entries = Self.sent((0..<9).map { Self.entry("k\($0)", Int64($0)) })
    var machine = Self.machine(9)
    _ = machine.loaded(Self.portion(entries))
    let send = machine.prepared(entries)
    for _ in 0..<2 {
      #expect(machine.failed(Self.busy, random: 0) == .wait(.zero))
      #expect(machine.waited() == Self.again(send))
    }
    #expect(machine.failed(Self.busy, random: 0) == Self.again(.send([entries[0].outgoing])))
    #expect(machine.failed(Self.busy, random: 0) == Self.again(.send([entries[8].outgoing])))
    #expect(machine.failed(Self.busy, random: 0) == .fail(.remoteUnavailable))
  }

  /// The remote's answer to a batch: it fails at one edit for good, and accepts others.
  private static func answer(
    to changes: [OutgoingChange], failingAt key: String, _ machine: inout PushMachine
  ) -> PushMachine.Action {
    if changes.contains(where: { $0.id.key == key }) {
      return machine.failed(SyncError(.invalidEdit, during: "testing", "400"), random: 0)
    }
    let version = Version(modifiedAt: now)
    return machine.answered(
      changes.map { .accepted(.tombstone(Tombstone(id: $0.id, version: version))) }, random: 0)
  }

  /// The first attempt may have had its effect, although a later one is refused.
  @Test func takesAnEditThatMetAnOutageForOneThatMayHaveArrived() {
    let entries = Self.sent((0..<2).map { Self.entry("k\($0)", Int64($0)) })
    var machine = Self.machine(2)
    _ = machine.loaded(Self.portion(entries))
    _ = machine.prepared(entries)
    #expect(machine.failed(Self.busy, random: 0) == .wait(.zero))
    var action = machine.waited()
    while true {
      switch action {
      case .send(let changes, _):
        action = Self.answer(to: changes, failingAt: "k1", &machine)
      case .settle(let answers): action = machine.settled(answers.map { _ in .accepted })
      case .isolate(let entries, let failure):
        #expect(entries.map(\.id.key) == ["k1"] && failure.mayHaveArrived(after: 1))
        return
      default: return #expect(action == .finish, "no edit was isolated")
      }
    }
  }

  @Test func findsTheEditThatTheRemoteFailsAt() {
    let entries = Self.sent((0..<6).map { Self.entry("k\($0)", Int64($0)) })
    var machine = Self.machine(6)
    _ = machine.loaded(Self.portion(entries))
    var action = machine.prepared(entries)
    var sent: [[String]] = []
    while true {
      switch action {
      case .send(let changes, _):
        sent.append(changes.map(\.id.key))
        action = Self.answer(to: changes, failingAt: "k3", &machine)
      case .settle(let answers): action = machine.settled(answers.map { _ in .accepted })
      case .isolate(let entries, let failure):
        #expect(
          entries.map(\.id.key) == ["k3"] && !failure.mayPass(after: 1) && failure.reason.contains("400"))
        action = machine.isolated()
      default:
        #expect(action == Self.deletions)
        #expect(
          sent == [
            ["k0", "k1", "k2", "k3", "k4", "k5"], ["k0"], ["k5"], ["k1", "k2", "k3", "k4"], ["k1", "k2"],
            ["k3", "k4"], ["k3"], ["k4"],
          ])
        return
      }
    }
  }

  @Test func endsWhenTheRemoteAsksForMorePatienceThanThereIs() {
    var machine = Self.machine(1)
    _ = machine.loaded(Self.portion([Self.entry("a")]))
    _ = machine.prepared(Self.sent([Self.entry("a")]))
    var error = Self.busy
    error.retryAfter = .seconds(31)
    #expect(machine.failed(error, random: 0) == .fail(.remoteUnavailable))
  }

  @Test func takesAnAnswerToOtherChangesForNone() {
    let entries = Self.sent([Self.entry("a"), Self.entry("b", 2)])
    var machine = Self.machine(2)
    _ = machine.loaded(Self.portion(entries))
    let send = machine.prepared(entries)
    #expect(machine.answered([Self.accepted(entries[0])], random: 0) == .wait(.zero))
    #expect(machine.waited() == Self.again(send))
    #expect(machine.answered(entries.reversed().map(Self.accepted), random: 0) == .wait(.zero))
    _ = machine.waited()
    // The permanent error may concern one of them.
    #expect(machine.answered([], random: 0) == Self.again(.send([entries[0].outgoing])))
    #expect(machine.answered([], random: 0) == Self.again(.send([entries[1].outgoing])))
    // If it concerns both, it is the type's failure.
    #expect(machine.answered([], random: 0) == .finish)
    #expect(machine.typeFailures.map(\.error.code) == [.invalidResponse])
    #expect(machine.failure == nil)
  }

  @Test func halvesABatchThatIsTooLargeDownToTheRecordThatIs() {
    let entries = Self.sent([Self.entry("a"), Self.entry("b", 2), Self.entry("c", 3)])
    let large = SyncError(.batchTooLarge, during: "testing", "413")
    var machine = Self.machine(3)
    _ = machine.loaded(Self.portion(entries))
    _ = machine.prepared(entries)
    #expect(machine.failed(large, random: 0) == .send([entries[0].outgoing]))
    #expect(
      machine.failed(large, random: 0)
        == .settle([PushAnswer(entry: entries[0], outcome: .refused(reason: "413"))]))
    #expect(machine.settled([.refused]) == .send(entries[1...].map(\.outgoing)))
    #expect(machine.failed(large, random: 0) == .send([entries[1].outgoing]))
    _ = machine.answered([Self.accepted(entries[1])], random: 0)
    #expect(machine.settled([.accepted]) == .send([entries[2].outgoing]))
    _ = machine.answered([Self.accepted(entries[2])], random: 0)
    #expect(machine.settled([.accepted]) == Self.deletions)
  }

  @Test func sendsNewRecordsAfterThoseThatTheyReferTo() {
    let entries = [Self.entry("child", 1), Self.entry("parent", 2), Self.entry("other", 3)]
    var machine = Self.machine(3)
    let portion = Self.portion(entries, waiting: ["child": ["parent"]])
    #expect(machine.loaded(portion) == .prepare([entries[1].id, entries[2].id], .upserts))
    let batch = Self.sent(Array(entries[1...]))
    _ = machine.prepared(batch)
    _ = machine.answered(batch.map(Self.accepted), random: 0)
    #expect(machine.settled([.accepted, .accepted]) == .prepare([entries[0].id], .upserts))
  }

  @Test(arguments: [SettlementResult.refused, .postponed, .unresolved])
  func keepsARecordBackWhoseTargetTheRemoteHasNot(_ result: SettlementResult) {
    let entries = [Self.entry("child", 1), Self.entry("parent", 2)]
    var machine = Self.machine(2)
    _ = machine.loaded(Self.portion(entries, waiting: ["child": ["parent"]]))
    let batch = Self.sent([entries[1]])
    _ = machine.prepared(batch)
    _ = machine.answered([.refused(reason: "no")], random: 0)
    #expect(machine.settled([result]) == Self.deletions)
  }

  @Test func sendsWhatStandsAfterAConflictAgainAFewTimes() {
    let entry = Self.entry("a")
    var machine = Self.machine(1)
    _ = machine.loaded(Self.portion([entry]))
    for _ in 1..<2 {
      _ = machine.prepared(Self.sent([entry]))
      _ = machine.answered([.conflict(nil)], random: 0)
      #expect(machine.settled([.rebased(entry)]) == .prepare([entry.id], .upserts))
    }
    _ = machine.prepared(Self.sent([entry]))
    _ = machine.answered([.conflict(nil)], random: 0)
    #expect(machine.settled([.rebased(entry)]) == Self.deletions)
    // The push does not begin with it again.
    #expect(machine.loaded(Self.portion([entry])) == .finish)
  }

  @Test func asksForRoomOnceAndTriesOnceMore() {
    let entries = Self.sent([Self.entry("a"), Self.entry("b", 2)])
    var machine = Self.machine(2)
    _ = machine.loaded(Self.portion(entries))
    _ = machine.prepared(entries)
    _ = machine.answered([Self.accepted(entries[0]), .quotaExceeded], random: 0)
    #expect(machine.settled([.accepted, .noRoom]) == .onStorageFull)
    #expect(machine.roomMade(true) == .prepare([entries[1].id], .upserts))
    _ = machine.prepared([entries[1]])
    _ = machine.answered([.quotaExceeded], random: 0)
    #expect(!machine.isRemoteFull)
    #expect(machine.settled([.noRoom]) == Self.deletions)
    #expect(machine.isRemoteFull)
  }

  @Test func sendsWhatNeedsNoRoomToARemoteThatIsFull() {
    var machine = PushMachine([("meters", 1), ("games", 2)])
    _ = machine.start()
    _ = machine.limitsTold(SinkLimits())
    let entries = Self.sent([Self.entry("a"), Self.entry("b", 2)])
    _ = machine.loaded(Self.portion(entries))
    _ = machine.prepared(entries)
    let full = SyncError(.quotaExceeded, during: "testing")
    #expect(
      machine.failed(full, random: 0)
        == .settle(entries.map { PushAnswer(entry: $0, outcome: .quotaExceeded) }))
    #expect(machine.settled([.noRoom, .noRoom]) == .onStorageFull)
    #expect(
      machine.roomMade(false)
        == .load(PushPortion(type: "games", stage: .upserts, after: nil, limit: 400)))
    var (new, known) = (Self.entry("new", 3, type: "games"), Self.entry("known", 4, type: "games"))
    new.sent = new.edit
    known.base = .copy(
      Record(
        id: known.id, version: Version(modifiedAt: Self.now), payload: Payload(Array("{}".utf8)), fields: []))
    #expect(machine.loaded(Self.portion([new, known])) == .prepare([known.id], .upserts))
    _ = machine.prepared(Self.sent([known]))
    // Without room for that either, deletions may make some.
    _ = machine.failed(full, random: 0)
    #expect(
      machine.settled([.noRoom])
        == .load(PushPortion(type: "games", stage: .deletions, after: nil, limit: 400)))
  }

  @Test func goesOnWithOtherTypesWhereOneIsForbidden() {
    var machine = PushMachine([("stadiums", 1), ("games", 1)])
    _ = machine.start()
    _ = machine.limitsTold(SinkLimits())
    let entries = Self.sent([Self.entry("a")])
    _ = machine.loaded(Self.portion(entries))
    _ = machine.prepared(entries)
    let forbidden = SyncError(.permissionDenied, during: "testing")
    #expect(
      machine.failed(forbidden, random: 0)
        == .load(PushPortion(type: "games", stage: .upserts, after: nil, limit: 400)))
    #expect(machine.typeFailures.map(\.type) == ["stadiums"])
    guard case .load(let leg) = machine.loaded(Self.portion([])) else {
      Issue.record("The push goes on.")
      return
    }
    #expect(leg.type == "games")
    #expect(machine.loaded(Self.portion([])) == .finish)
  }

  @Test func tellsOfEveryTypeWhereNoneMayBePushed() {
    var machine = PushMachine([("stadiums", 1), ("games", 1)])
    #expect(machine.start() == .askLimits)
    #expect(machine.failed(SyncError(.permissionDenied, during: "testing"), random: 0) == .finish)
    #expect(machine.typeFailures.map(\.type) == ["stadiums", "games"])
    #expect(machine.failure == nil)
  }

  @Test func asksForTheLimitsAgainAfterAFailureThatMayPass() {
    var machine = PushMachine([("meters", 1)])
    #expect(machine.start() == .askLimits)
    #expect(machine.failed(Self.busy, random: 0) == .wait(.zero))
    #expect(machine.waited() == .askLimits)
    #expect(
      machine.failed(SyncError(.authentication, during: "testing"), random: 0) == .fail(.authentication))
  }

  /// An edit of another type that failed alone is retried after the next success.
  ///
  /// Its outcome is not part of this leg.
  @Test func putsNoEditOfAnotherTypeIntoABatch() {
    var machine = PushMachine(
      [("meters", 1), ("readings", 2)], settings: PushMachine.Settings(retry: RetryPolicy(attempts: 1)),
      stages: [.upserts])
    _ = machine.start()
    _ = machine.limitsTold(SinkLimits(maximumRecords: 1))
    let m = Self.sent([Self.entry("m")])
    let r = Self.sent(["r1", "r2"].map { Self.entry($0, 2, type: "readings") })
    #expect(machine.loaded(Self.portion(m)) == .prepare(m.map(\.id), .upserts))
    #expect(machine.prepared(m) == .send(m.map(\.outgoing)))
    let next = machine.failed(SyncError(.invalidResponse, during: "testing"), random: 0)
    #expect(next == .load(PushPortion(type: "readings", stage: .upserts, after: nil, limit: 400)))
    #expect(machine.loaded(Self.portion(r)) == .prepare([r[0].id], .upserts))
    #expect(machine.prepared([r[0]]) == .send([r[0].outgoing]))
    _ = machine.answered([Self.accepted(r[0])], random: 0)
    #expect(machine.settled([.accepted]) == Self.again(.send(m.map(\.outgoing))))
    _ = machine.answered([.conflict(nil)], random: 0)
    #expect(machine.settled([.rebased(m[0])]) == .prepare([r[1].id], .upserts))
  }
}
