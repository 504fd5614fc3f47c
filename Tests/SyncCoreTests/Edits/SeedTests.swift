import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Defaults that an app inserts by itself", .timeLimit(.minutes(10)))
struct SeedTests {
  private struct Setting: SyncedRecord, Codable, Equatable {
    static let recordType: RecordType = "meters"
    var theme: String
    var unit: String?
  }

  private static let policies: [any MergePolicy] = [LastWriteWins(), FieldwiseLastWriteWins()]

  /// A device whose user has chosen, and a new one that is a day later.
  private func devices(_ policy: any MergePolicy) async throws -> (PushWorld, PushWorld) {
    let old = try await PushWorld(edits: EditOptions(policy: policy))
    try await old.write("meters", "main", ["theme": #""dark""#, "unit": #""kg""#])
    _ = try await old.engine.sync()
    old.clock.advance(by: .seconds(86_400))
    return (old, try await PushWorld(name: "b", beside: old, edits: EditOptions(policy: policy)))
  }

  @Test(arguments: policies) func loseToWhatAnotherDeviceHasChosen(_ policy: any MergePolicy) async throws {
    let (old, new) = try await devices(policy)
    let chosen = old.here()
    #expect(try await new.engine.edits.seed(Setting(theme: "light", unit: "lb"), key: "main"))
    #expect(new.here() == ["main": #"{"theme":"light","unit":"lb"}"#])
    for device in [new, old, new] { _ = try await device.engine.sync() }
    for device in [old, new] {
      #expect(device.here() == chosen)
      #expect(try await device.engine.edits.conflicts().isEmpty)
      #expect(try await device.outbox().isEmpty)
    }
    // Afterwards they are not wanted.
    #expect(try await !new.engine.edits.seed(Setting(theme: "light"), key: "main"))
  }

  /// The default was never at the remote, although the edit leads back to it.
  @Test(arguments: [Stamping.automatic, .none, .field("edited")], [Undoing.form, .member, .discard])
  func areSentWhereAnEditOfThemIsUndone(_ stamping: Stamping, by undoing: Undoing) async throws {
    let world = try await PushWorld([Entity("meters", stamping: stamping)])
    try await world.engine.edits.seed(Setting(theme: "light"), key: "main")
    var form = try #require(try await world.engine.records.find(Setting.self, key: "main"))
    for theme in ["dark", "light"] {
      form.theme = theme
      switch undoing {
      case .form: try await world.engine.edits.upsert(form)
      case .discard where theme == "light":
        try await world.engine.edits.discard(RecordID(type: "meters", key: "main"))
      case .member, .discard: try await world.write("meters", "main", ["theme": "\"\(theme)\""])
      }
    }
    #expect(try await world.outbox().map(\.id.key) == ["main"])
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there()["main"]?.contains("light") == true && world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  enum Undoing { case form, member, discard }

  @Test func areNotWantedAgainWhereTheRemoteHasGivenThemAKey() async throws {
    let world = try await PushWorld([PushWorld.meters], configure: { $0.assignsKeys = true })
    #expect(try await world.engine.edits.seed(Setting(theme: "light"), key: "main"))
    for _ in 0..<2 { _ = try await world.engine.sync() }
    try await world.engine.forget(["meters"])
    #expect(try await !world.engine.edits.seed(Setting(theme: "light"), key: "main"))
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().count == 1 && world.here() == world.there())
  }

  /// The remote never had them, so that no listing brings them back.
  @Test(arguments: [true, false], [Entity.Access.readWrite, .local])
  func areWantedAgainWhereTheyWereForgotten(isOne: Bool, _ access: Entity.Access) async throws {
    let world = try await PushWorld([Entity("meters", access: access)])
    for _ in 0..<2 {
      #expect(try await world.engine.edits.seed(Setting(theme: "light"), key: "main"))
      if isOne {
        try await world.engine.forget(records: [RecordID(type: "meters", key: "main")])
      } else {
        try await world.engine.forget(["meters"])
      }
      #expect(world.here().isEmpty)
      _ = try await world.engine.sync()
    }
    #expect(try await world.engine.edits.seed(Setting(theme: "light"), key: "main"))
    #expect(try await !world.engine.edits.seed(Setting(theme: "light"), key: "main"))
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.here() == ["main": #"{"theme":"light"}"#])
    #expect(world.there() == (access == .local ? [:] : world.here()))
  }

  /// Whatever the next push sends, they are not among it.
  @Test func tellThatTheyWaitForTheFirstPull() async throws {
    let world = try await PushWorld([PushWorld.meters, PushWorld.readings])
    try await world.engine.edits.seed(Setting(theme: "light"), key: "main")
    try await world.write("readings", "r", ["meter": #""main""#])
    for _ in 0..<2 {
      for type in ["meters", "readings"] as [RecordType] {
        let waiting = try await world.engine.edits.waiting(type)
        #expect(waiting.count == 1)
        #expect(waiting.allSatisfy { $0.kind == .records && !$0.isSentWithNextPush })
      }
      _ = try await world.engine.push()
    }
    _ = try await world.engine.sync()
    #expect(try await world.engine.edits.waiting("meters").allSatisfy { $0.kind == .push })
    _ = try await world.engine.sync()
    for type in ["meters", "readings"] as [RecordType] { #expect(try await world.outbox(type).isEmpty) }
  }

  /// The rows of the account before stay, deleted.
  @Test(arguments: [true, false], [true, false])
  func areThoseOfTheNextAccountToo(isPushed: Bool, isAfterTheNextSync: Bool) async throws {
    let world = try await PushWorld()
    let (main, other) = (Setting(theme: "light"), Setting(theme: "dark"))
    for (key, value) in [("main", main), ("other", other)] {
      #expect(try await world.engine.edits.seed(value, key: key))
    }
    for _ in 0..<(isPushed ? 2 : 0) { _ = try await world.engine.sync() }
    try await world.delete("meters", "other")
    #expect(try await !world.engine.edits.seed(other, key: "other"))
    try await SyncEngine.forgetEverything(in: world.store)
    let remote = InMemoryRemote(
      identity: "another account's", configuration: .privateZone, clock: world.clock)
    let next = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: remote, sink: remote, clock: world.clock)
    if isAfterTheNextSync { _ = try await next.sync() }
    for (key, value) in [("main", main), ("other", other)] {
      #expect(try await next.edits.seed(value, key: key))
      #expect(try await !next.edits.seed(value, key: key))
    }
    for _ in 0..<2 { _ = try await next.sync() }
    #expect(remote.records(of: "meters").map(\.key).sorted() == ["main", "other"])
    // What this account deletes stays deleted.
    try await next.edits.delete(RecordID(type: "meters", key: "main"))
    #expect(try await !next.edits.seed(main, key: "main"))
    _ = try await next.sync()
    #expect(try await !next.edits.seed(main, key: "main"))
  }

  /// An edit of a forgotten record is that of a new one.
  @Test func areNotWantedAgainWhereTheNextAccountHasDeletedThem() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "main", ["theme": #""light""#])
    _ = try await world.engine.sync()
    try await SyncEngine.forgetEverything(in: world.store)
    try await world.write("meters", "main", ["theme": #""dark""#])
    try await world.delete("meters", "main")
    #expect(try await !world.engine.edits.seed(Setting(theme: "light"), key: "main"))
  }

  @Test func loseToADeletion() async throws {
    let (old, new) = try await devices(LastWriteWins())
    try await old.delete("meters", "main")
    _ = try await old.engine.sync()
    try await new.engine.edits.seed(Setting(theme: "light"), key: "main")
    for device in [new, old, new] { _ = try await device.engine.sync() }
    #expect(old.here().isEmpty && new.here().isEmpty)
    #expect(try await !new.engine.edits.seed(Setting(theme: "light"), key: "main"))
  }

  /// A remote that answers the first change in its own way.
  private struct OnceSink: RemoteRecordSink {
    let base: InMemoryRemote
    let answer: PushOutcome
    let hasAnswered = Flag()
    var identity: String { base.identity }
    var keepsUnknownMembers: Bool { true }

    final class Flag: Sendable {
      private let isSet = Atomic(false)
      func set() -> Bool { isSet.exchange(true, ordering: .relaxed) }
    }

    func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      if !hasAnswered.set() { return changes.map { _ in answer } }
      return try await base.push(changes, entities: entities)
    }
  }

  /// A device that has discarded an edit of a default, and its push, which got an answer.
  private func deviceAfterDiscarding(
    answer: PushOutcome
  ) async throws -> (world: PushWorld, pushed: PushCounts) {
    let world = try await PushWorld(sink: { OnceSink(base: $0, answer: answer) })
    try await world.engine.edits.seed(Setting(theme: "light"), key: "main")
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    try await world.write("meters", "main", ["theme": #""dark""#])
    let pushed = try await world.engine.sync().pushed
    try await world.engine.edits.discard(RecordID(type: "meters", key: "main"))
    return (world, pushed)
  }

  @Test func areDueAgainWhenARefusedEditOfThemIsDiscarded() async throws {
    let (world, pushed) = try await deviceAfterDiscarding(answer: .refused(reason: "no"))
    #expect(pushed.refused == 1)
    #expect(world.here() == ["main": #"{"theme":"light"}"#])
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there() == ["main": #"{"theme":"light"}"#])
    #expect(try await world.outbox().isEmpty)
  }

  /// Otherwise the remote would have the record twice, under two keys.
  @Test func goWhenAnEditOfThemIsDiscardedThatTheRemoteMayHave() async throws {
    let (world, pushed) = try await deviceAfterDiscarding(answer: .unknown(reason: "lost"))
    #expect(pushed.pending == 1)
    #expect(world.here().isEmpty)
    #expect(try await world.engine.sync().pushed.accepted == 0)
    #expect(world.there().isEmpty)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func arePushedAfterTheFirstPullHasShownThatTheRemoteHasNone() async throws {
    let world = try await PushWorld()
    try await world.engine.edits.seed(Setting(theme: "light"), key: "main")
    let pushed = try await world.engine.sync().pushed
    #expect(pushed.requests == 0 && pushed.pending == 1)
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.there() == ["main": #"{"theme":"light"}"#])
    // Another device's later edit is a person's.
    let other = try await PushWorld(name: "b", beside: world)
    _ = try await other.engine.sync()
    try await other.write("meters", "main", ["theme": #""dark""#])
    for device in [other, world] { _ = try await device.engine.sync() }
    #expect(world.here() == ["main": #"{"theme":"dark"}"#])
  }

  @Test func areTheBaseOfAPersonsEdit() async throws {
    let (old, new) = try await devices(FieldwiseLastWriteWins())
    try await new.engine.edits.seed(Setting(theme: "light", unit: "lb"), key: "main")
    try await new.engine.edits.update(Setting.self, key: "main") { $0.theme = "blue" }
    for device in [new, old, new] { _ = try await device.engine.sync() }
    // The unit is nobody's choice on the new device.
    #expect(new.here() == ["main": #"{"theme":"blue","unit":"kg"}"#])
    #expect(old.here() == new.here())
  }

  @Test func ofTwoDevicesAreOne() async throws {
    let one = try await PushWorld()
    let two = try await PushWorld(name: "b", beside: one)
    try await one.engine.edits.seed(Setting(theme: "light"), key: "main")
    try await two.engine.edits.seed(Setting(theme: "bright"), key: "main")
    for device in [one, two, one, two, one, two] { _ = try await device.engine.sync() }
    #expect(one.here() == ["main": #"{"theme":"light"}"#])
    #expect(two.here() == one.here())
    #expect(try await two.engine.edits.conflicts().isEmpty)
  }

  @Test(arguments: [LegacyMigration.Existing.fillGaps, .keep, .overwrite])
  func areWhatALegacySettingBecomesThatIsNotHere(_ existing: LegacyMigration.Existing) async throws {
    let (old, new) = try await devices(LastWriteWins())
    let settings = InMemoryLegacySettings(["themes": ["main": #""old""#]])
    _ = try await new.engine.migrate(
      settings, by: LegacyMigration("m", to: "meters", fields: ["themes": "theme"], existing: existing))
    for device in [new, old, new] { _ = try await device.engine.sync() }
    let isOverwritten = existing == .overwrite
    #expect(old.here()["main"]?.contains(isOverwritten ? "old" : "dark") ?? false)
    #expect(old.here() == new.here())
  }
}
