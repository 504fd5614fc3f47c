import CanonicalSync
import SyncAdapters
import Testing

@testable import SyncCore

@Suite("The plan of a round")
struct MergePlanTests {
  private static let teams = Entity("teams", immutable: ["created"])
  private static let games = Entity("games", references: [.to("teams", by: "home")])

  private static func version(_ number: Int64) -> Version {
    Version(sequence: number, modifiedAt: Timestamp(milliseconds: number))
  }

  private func merge(_ entity: Entity, stages: Bool = false) throws -> PageMerge {
    PageMerge(
      entity,
      context: MergeContext(
        schema: try SyncSchema(Self.teams, Self.games), edits: EditOptions(), finder: .sync(fence: 1),
        now: Timestamp(milliseconds: 9),
        listing: .moving, pass: .init(number: 3, base: nil, coverage: .full), markPass: 3, stages: stages))
  }

  private func copy(_ entity: Entity, _ key: String, _ json: String, version: Int64 = 2) throws -> Record {
    let payload = Payload(Array(json.utf8))
    return Record(
      id: RecordID(type: entity.type, key: key), version: Self.version(version), payload: payload,
      fields: try entity.fields(of: payload))
  }

  private func stored(_ version: Int64, same: Bool = false, isDeleted: Bool = false) -> StoredState {
    StoredState(
      version: Self.version(version), isDeleted: isDeleted, hasSamePayload: same, isMarked: false)
  }

  private func plan(_ round: MergeRound, _ view: PageView, of merge: PageMerge) -> MergePlan {
    MergePlan(round, view, of: merge, counting: Tally())
  }

  @Test func putsWhatIsNewAndSkipsWhatIsOld() throws {
    let copies = try ["new", "updated", "same", "older", "back"].map {
      try copy(Self.teams, $0, #"{"id":"\#($0)"}"#)
    }
    var view = PageView()
    view.copyStates = [nil, stored(1), stored(2, same: true), stored(3), stored(1, isDeleted: true)]
    let plan = plan(MergeRound(copies: copies), view, of: try merge(Self.teams))
    #expect(plan.changes.put.map(\.id.key) == ["new", "updated", "back"])
    #expect(plan.changes.versions.isEmpty)
    #expect(plan.changes.marked.map(\.key) == copies.map(\.id.key), "All are listed.")
    #expect(plan.appeared.map(\.key) == ["new", "back"])
    let counts = try #require(plan.tally.counts["teams"])
    #expect([counts.inserted, counts.updated, counts.unchanged, counts.skippedOlder] == [2, 1, 1, 1])
  }

  @Test func writesANewVersionOfTheSameBytes() throws {
    let same = try copy(Self.teams, "same", "{}", version: 4)
    var view = PageView()
    view.copyStates = [stored(2, same: true)]
    let plan = plan(MergeRound(copies: [same]), view, of: try merge(Self.teams))
    #expect(plan.changes.put.isEmpty)
    #expect(plan.changes.versions == [same])
  }

  @Test func leavesWhatAPageHasBroughtSinceTheStoresOwnCopyWasRead() throws {
    let own = try copy(Self.games, "g", #"{"name":1}"#)
    var merge = try merge(Self.games)
    merge.context.ownCopies = [own.id]
    var view = PageView()
    view.copyStates = [stored(2)]
    let plan = plan(MergeRound(copies: [own]), view, of: merge)
    #expect(plan.changes.put.isEmpty && plan.changes.marked == [own.id])
    // What waits is kept as well.
    view.copyStates = [nil]
    let parked = try copy(Self.games, "g", #"{"home":"t"}"#)
    view.withheld[own.id] = WithheldChange(
      key: .record(own.id), kind: .parked, change: .upsert(parked), reason: "",
      waitsFor: [RecordID(type: "teams", key: "t")], pass: 3, finder: .sync(fence: 1),
      since: Timestamp(milliseconds: 1))
    let waiting = self.plan(MergeRound([Incoming(.upsert(own))]), view, of: merge)
    #expect(waiting.changes.put.isEmpty && waiting.changes.released.isEmpty)
    #expect(waiting.changes.withheld.map(\.change) == [.upsert(parked)])
  }

  @Test func parksACopyWhoseTargetIsAbsent() throws {
    let copies = [try copy(Self.games, "g", #"{"home":"t"}"#), try copy(Self.games, "h", "{}")]
    var view = PageView()
    view.copyStates = [nil, nil]
    view.absent = [RecordID(type: "teams", key: "t")]
    let plan = plan(MergeRound(copies: copies), view, of: try merge(Self.games))
    #expect(plan.changes.put.map(\.id.key) == ["h"])
    let parked = try #require(plan.changes.withheld.first)
    #expect(parked.kind == .parked && parked.waitsFor == [RecordID(type: "teams", key: "t")])
    #expect(plan.tally.counts["games"]?.deferred == 1)
  }

  @Test func holdsATombstoneOfAReferencedRecord() throws {
    let tombstones = ["held", "gone", "unknown"].map {
      Tombstone(id: RecordID(type: "teams", key: $0), version: Self.version(5))
    }
    var view = PageView()
    view.tombstoneStates = [stored(1), stored(1), nil]
    view.referenced = [tombstones[0].id]
    let round = MergeRound(tombstones.map { Incoming(.tombstone($0)) }[...])
    let plan = plan(round, view, of: try merge(Self.teams))
    #expect(plan.changes.deleted == [tombstones[1], tombstones[2]], "An older copy may still come.")
    #expect(plan.changes.withheld.map(\.kind) == [.held])
  }

  @Test func stagesEverythingOfATypeThatIsShownWhole() throws {
    let record = try copy(Self.teams, "t", "{}")
    let plan = plan(MergeRound(copies: [record]), PageView(), of: try merge(Self.teams, stages: true))
    #expect(plan.changes.put.isEmpty)
    #expect(plan.changes.withheld.map(\.kind) == [.staged])
    #expect(plan.changes.marked == [record.id])
  }

  @Test func restoresAnImmutableField() throws {
    let changed = try copy(Self.teams, "t", #"{"created":"2026-02-01"}"#)
    let row = try copy(Self.teams, "t", #"{"created":"2026-01-01"}"#, version: 1)
    var view = PageView()
    view.copyStates = [stored(1)]
    view.rows = [row.id: row]
    let plan = plan(MergeRound(copies: [changed]), view, of: try merge(Self.teams))
    #expect(plan.changes.put == [changed])
    #expect(plan.restorations.map(\.shown) == [changed])
  }

  @Test func releasesAnOlderWithheldCopy() throws {
    let (old, new) = (
      try copy(Self.games, "g", #"{"home":"t"}"#), try copy(Self.games, "g", "{}", version: 3)
    )
    var view = PageView()
    view.copyStates = [nil]
    view.withheld[old.id] = WithheldChange(
      key: .record(old.id), kind: .parked, change: .upsert(old), reason: "",
      waitsFor: [RecordID(type: "teams", key: "t")], pass: 2, finder: .sync(fence: 1),
      since: Timestamp(milliseconds: 1))
    let plan = plan(MergeRound([Incoming(.upsert(new))]), view, of: try merge(Self.games))
    #expect(plan.changes.released == [.record(old.id)])
    #expect(plan.changes.put == [new])
    #expect(plan.tally.counts["games"]?.skippedOlder == 1, "What this sync had parked is older now.")
  }

  @Test func isARoundForEachOccurrenceOfARecord() throws {
    let copies = try (1...3).map { try copy(Self.teams, "t", #"{"n":\#($0)}"#, version: Int64($0)) }
    let other = try copy(Self.teams, "u", "{}")
    let changes = [copies[0], other, copies[1], copies[2]].map { Incoming(.upsert($0)) }
    let rounds = MergeRound.rounds(of: changes, selfReferring: false)
    #expect(rounds.map { $0.copies.map(\.version.sequence) } == [[1, 2], [2], [3]])
  }

  @Test func putsTombstonesOfSelfReferringTypesBehindTheirCopies() throws {
    let record = try copy(Self.teams, "t", "{}")
    let tombstone = Tombstone(id: RecordID(type: "teams", key: "u"), version: Self.version(1))
    let changes = [Incoming(.tombstone(tombstone)), Incoming(.upsert(record))]
    let rounds = MergeRound.rounds(of: changes, selfReferring: true)
    #expect(rounds.map(\.copies.count) == [1, 0])
    #expect(rounds.map(\.tombstones.count) == [0, 1])
    #expect(rounds[0].following == [tombstone])
    #expect(MergeRound.rounds(of: changes, selfReferring: false).count == 1)
  }
}
