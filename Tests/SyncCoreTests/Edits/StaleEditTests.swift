import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("An edit of a record that has changed since it was read", .timeLimit(.minutes(10)))
struct StaleEditTests {
  private struct Meter: SyncedRecord, Codable, Equatable {
    static let recordType: RecordType = "meters"
    var text: String
    var isDone: Bool
    var count: Int?
    var place: Place?
    struct Place: Codable, Equatable { var street: String; var floor: Int? }
  }

  /// Adds what both sides have counted.
  private struct Sum: MergePolicy {
    func settle(_ conflict: MergeConflict) -> MergeResolution {
      func count(_ payload: Payload?) -> Int {
        (try? payload?.decoded(as: Meter.self, key: conflict.id.key))?.count ?? 0
      }
      guard var merged = conflict.remote.content.flatMap({ try? FieldMap($0) }) else {
        return .remote(reason: "deleted")
      }
      let sum = count(conflict.local.content) + count(conflict.remote.content) - count(conflict.base)
      merged["count"] = Array("\(sum)".utf8)[...]
      return .merged(merged.payload, reason: "the sum")
    }
  }

  private static let stored =
    #"{"text":"one","isDone":false,"count":10,"place":{"street":"S","zip":"8000"},"x":1.50}"#

  private func world(_ policy: any MergePolicy = LastWriteWins()) async throws -> PushWorld {
    let world = try await PushWorld(edits: EditOptions(policy: policy))
    world.remote.upsert("meters", "m", Self.stored)
    _ = try await world.engine.sync()
    return world
  }

  private func read(_ world: PushWorld) async throws -> Stored<Meter> {
    try #require(try await world.engine.records.find(Meter.self, key: "m"))
  }

  /// The remote's copy changes, and a sync brings it.
  private func change(_ world: PushWorld, _ json: String) async throws {
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m", json)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(1))
  }

  @Test(arguments: [LastWriteWins() as any MergePolicy, FieldwiseLastWriteWins(), ServerWins()])
  func leavesWhatTheAppDidNotTouch(_ policy: any MergePolicy) async throws {
    let world = try await world(policy)
    var form = try await read(world)
    try await change(
      world, #"{"text":"one","isDone":true,"count":10,"place":{"street":"S","zip":"9000","floor":2},"x":2}"#)
    form.text = "two"
    form.value.place?.street = "T"
    try await world.engine.edits.upsert(form)
    let merged =
      #"{"text":"two","isDone":true,"count":10,"place":{"street":"T","zip":"9000","floor":2},"x":2}"#
    #expect(world.here() == ["m": merged])
    _ = try await world.engine.sync()
    #expect(world.there() == ["m": merged])
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  @Test func leavesWhatAnotherFormHasWritten() async throws {
    let world = try await world()
    var (left, right) = (try await read(world), try await read(world))
    left.text = "two"
    right.isDone = true
    right.value.count = nil
    try await world.engine.edits.upsert(left)
    try await world.engine.edits.upsert(right)
    #expect(
      world.here() == ["m": #"{"text":"two","isDone":true,"place":{"street":"S","zip":"8000"},"x":1.50}"#])
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  @Test(arguments: [true, false]) func meetsThePolicyWhereBothHaveChangedAMember(isLocal: Bool) async throws {
    let world = try await world(isLocal ? LastWriteWins() : ServerWins())
    var form = try await read(world)
    try await change(world, #"{"text":"theirs","isDone":true}"#)
    form.text = "mine"
    try await world.engine.edits.upsert(form)
    #expect(world.here() == ["m": #"{"text":"\#(isLocal ? "mine" : "theirs")","isDone":true}"#])
    #expect(try await world.outbox().count == (isLocal ? 1 : 0))
    let conflict = try #require(try await world.engine.edits.conflicts().first)
    #expect(conflict.winner == (isLocal ? .local : .remote))
    #expect(conflict.base?.withoutEditStamp == Payload(Array(Self.stored.utf8)))
    #expect(conflict.local.content.payload?.withoutEditStamp == Payload(#"{"text":"mine","isDone":true}"#))
    let told = world.recorder.events.compactMap { event -> Conflict.Winner? in
      if case .conflict(let conflict, true) = event { conflict.winner } else { nil }
    }
    #expect(told == [conflict.winner])
  }

  /// Both forms count from 10 to 11.
  @Test func isCountedThoughBothFormsHaveTheSameValue() async throws {
    let world = try await world(Sum())
    var (left, right) = (try await read(world), try await read(world))
    left.value.count = 11
    right.value.count = 11
    try await world.engine.edits.upsert(left)
    try await world.engine.edits.upsert(right)
    #expect(try await read(world).value.count == 12)
  }

  /// Two devices count from 10 to 11, and the answer to one of them is lost or not.
  @Test(arguments: [true, false]) func isCountedThoughTwoDevicesHaveTheSameValue(isAnswered: Bool)
    async throws
  {
    let one = try await world(Sum())
    let two = try await PushWorld(name: "b", beside: one, edits: EditOptions(policy: Sum()))
    _ = try await two.engine.sync()
    for device in [one, two] { try await device.write("meters", "m", ["count": "11"]) }
    if !isAnswered {
      let lost = SyncError(.remoteUnavailable, during: "pushing", "The connection was lost.")
      one.remote.behave(.loseAnswer(lost), onNextPushes: 1)
    }
    for _ in 0..<3 {
      for device in [one, two] { _ = try? await device.engine.sync() }
      one.clock.advance(by: .seconds(600))
    }
    #expect(try await read(one).value.count == 12)
    #expect(try await read(two).value.count == 12)
    #expect(try await one.outbox().isEmpty)
    #expect(try await two.outbox().isEmpty)
  }

  @Test func tellsNothingOfAPolicyThatKeepsWhatBothHave() async throws {
    let world = try await world()
    var (left, right) = (try await read(world), try await read(world))
    left.value.count = 11
    right.value.count = 11
    try await world.engine.edits.upsert(left)
    try await world.engine.edits.upsert(right)
    #expect(try await read(world).value.count == 11)
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  @Test func reportsAPolicyThatErrs() async throws {
    struct Wrong: MergePolicy {
      func settle(_: MergeConflict) -> MergeResolution { .merged(Payload("[]"), reason: "wrong") }
    }
    let world = try await world(Wrong())
    var form = try await read(world)
    try await change(world, #"{"text":"theirs","isDone":true}"#)
    form.text = "mine"
    try await world.engine.edits.upsert(form)
    #expect(world.here() == ["m": #"{"text":"theirs","isDone":true}"#])
    #expect(try await world.engine.edits.conflicts().first?.winner == .remote)
    let isTold = world.recorder.events.contains { if case .policyFailed = $0 { true } else { false } }
    #expect(isTold)
  }

  @Test(arguments: [true, false]) func meetsThePolicyWhereTheRecordIsGone(isLocal: Bool) async throws {
    let world = try await world(isLocal ? LastWriteWins() : ServerWins())
    var form = try await read(world)
    world.clock.advance(by: .seconds(1))
    world.remote.delete("meters", "m")
    _ = try await world.engine.sync()
    form.text = "mine"
    try await world.engine.edits.upsert(form)
    let whole = Self.stored.replacingText(#""one""#, with: #""mine""#)
    #expect(world.here() == (isLocal ? ["m": whole] : [:]))
    #expect(try await world.engine.edits.conflicts().map(\.winner) == [isLocal ? .local : .remote])
  }

  @Test func isRefusedIfItDemandsThatNothingHasChanged() async throws {
    let world = try await world()
    var form = try await read(world)
    form.text = "mine"
    try await change(world, #"{"text":"one","isDone":true}"#)
    let before = world.here()
    await #expect(
      performing: { try await world.engine.edits.upsert(form, ifUnchanged: true) },
      throws: PushWorld.isCode(.changedMeanwhile))
    await #expect(
      performing: { try await world.engine.edits.delete(form, ifUnchanged: true) },
      throws: PushWorld.isCode(.changedMeanwhile))
    #expect(world.here() == before)
    #expect(try await world.outbox().isEmpty)
    var fresh = try await read(world)
    fresh.text = "mine"
    try await world.engine.edits.upsert(fresh, ifUnchanged: true)
    #expect(world.here() == ["m": #"{"text":"mine","isDone":true}"#])
    fresh = try await read(world)
    try await world.engine.edits.delete(fresh, ifUnchanged: true)
    await #expect(
      performing: { try await world.engine.edits.upsert(fresh, ifUnchanged: true) },
      throws: PushWorld.isCode(.changedMeanwhile))
    // Of a value that was not read, nobody knows what it was.
    let own = Stored(Meter(text: "own", isDone: false), key: "own")
    await #expect(
      performing: { try await world.engine.edits.upsert(own, ifUnchanged: true) },
      throws: PushWorld.isCode(.invalidEdit))
    #expect(world.here().isEmpty)
  }

  private struct Trip: SyncedRecord, Codable, Equatable {
    static let recordType: RecordType = "meters"
    var means: Means
    var note: Note?

    enum Means: Codable, Equatable { case car(doors: Int), bike(gears: Int), bus(seats: Int) }
    struct Note: Codable, Equatable { var means: Means?, text: String }
  }

  /// The members of two cases are no value.
  @Test(arguments: [LastWriteWins() as any MergePolicy, FieldwiseLastWriteWins()], [3, 4])
  func takesAnEnumerationWhole(_ policy: any MergePolicy, doors: Int) async throws {
    let world = try await PushWorld(edits: EditOptions(policy: policy))
    let means = #"{"car":{"doors":4}}"#
    world.remote.upsert("meters", "m", #"{"means":\#(means),"note":{"means":\#(means),"text":"one","x":1}}"#)
    _ = try await world.engine.sync()
    var form = try #require(try await world.engine.records.find(Trip.self, key: "m"))
    let bus = #"{"bus":{"seats":40}}"#
    try await change(world, #"{"means":\#(bus),"note":{"means":\#(bus),"text":"two","x":2}}"#)
    let chosen = doors == 4 ? Trip.Means.bike(gears: 3) : .car(doors: doors)
    form.value.means = chosen
    form.value.note?.means = chosen
    try await world.engine.edits.upsert(form)
    let shown = try #require(try await world.engine.records.find(Trip.self, key: "m"))
    #expect(shown.value == Trip(means: chosen, note: .init(means: chosen, text: "two")))
    #expect(world.here()["m"]?.contains(#""x":2"#) == true)
    #expect(try await world.engine.edits.conflicts().count == 1)
  }

  /// A later version of the app has another case.
  @Test func takesAnEnumerationWholeInPlaceOfOneThatIsUnknown() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m", #"{"means":{"tram":{"line":4}},"x":1}"#)
    _ = try await world.engine.sync()
    try await world.engine.edits.upsert(Trip(means: .bike(gears: 3)), key: "m")
    #expect(world.here() == ["m": #"{"means":{"bike":{"gears":3}},"x":1}"#])
    var form = try #require(try await world.engine.records.find(Trip.self, key: "m"))
    _ = try await world.engine.sync()
    try await change(world, #"{"means":{"tram":{"line":5}},"x":2}"#)
    form.value.means = .car(doors: 4)
    try await world.engine.edits.upsert(form)
    #expect(world.here() == ["m": #"{"means":{"car":{"doors":4}},"x":2}"#])
  }

  private struct Journey: SyncedRecord, Codable, Equatable {
    static let recordType: RecordType = "meters"
    var means: Trip.Means
    var seats: [String: Int]
    var driver: Driver

    struct Driver: Codable, Equatable { var name: String, phone: String }
  }

  /// Where one object is taken whole, others with members of both stay merged.
  @Test(arguments: ["bus", "tram"])
  func takesOnlyWhatFormsNoValueWhole(_ other: String) async throws {
    func text(_ means: String, _ seats: String, _ phone: String) -> String {
      #"{"driver":{"name":"A","phone":"\#(phone)"},"means":\#(means),"seats":{\#(seats)}}"#
    }
    let world = try await PushWorld(edits: EditOptions(policy: LastWriteWins()))
    world.remote.upsert("meters", "m", text(#"{"car":{"doors":4}}"#, #""a":1"#, "1"))
    _ = try await world.engine.sync()
    var form = try #require(try await world.engine.records.find(Journey.self, key: "m"))
    try await change(world, text(#"{"\#(other)":{"seats":40}}"#, #""a":2,"c":9"#, "2"))
    form.value.means = .bike(gears: 3)
    form.value.seats = ["a": 3, "b": 7]
    form.value.driver = Journey.Driver(name: "B", phone: "3")
    try await world.engine.edits.upsert(form)
    let shown = try #require(try await world.engine.records.find(Journey.self, key: "m")).value
    #expect(shown.means == .bike(gears: 3))
    #expect(shown.seats == ["a": 3, "b": 7, "c": 9])
    #expect(shown.driver == Journey.Driver(name: "B", phone: "3"))
  }

  /// Of a record that cannot be read, nested objects that can be are merged.
  @Test func mergesDictionariesOfAnUnreadableRecord() async throws {
    let world = try await PushWorld()
    world.remote.upsert(
      "meters", "m",
      #"{"driver":{"name":"A","phone":"1"},"means":{"tram":{"line":4}},"seats":{"c":9}}"#)
    _ = try await world.engine.sync()
    let value = Journey(means: .bike(gears: 3), seats: ["b": 7], driver: .init(name: "B", phone: "2"))
    try await world.engine.edits.upsert(value, key: "m")
    #expect(
      world.here() == [
        "m": #"{"driver":{"name":"B","phone":"2"},"means":{"bike":{"gears":3}},"seats":{"c":9,"b":7}}"#
      ])
  }

  // MARK: One form, saved again

  /// The shown text, after the form was saved once per text.
  private func save(
    _ texts: [String], in world: PushWorld, ifUnchanged: Bool = false, atOnce: Bool = false
  ) async throws -> String {
    let form = try await read(world)
    if atOnce {
      try await world.engine.edits.perform { (batch) throws(SyncError) in
        var form = form
        for text in texts {
          form.text = text
          try batch.upsert(form, ifUnchanged: ifUnchanged)
        }
      }
    } else {
      var form = form
      for text in texts {
        form.text = text
        try await world.engine.edits.upsert(form, ifUnchanged: ifUnchanged)
      }
    }
    return try await read(world).text
  }

  @Test(
    arguments: [LastWriteWins() as any MergePolicy, FieldwiseLastWriteWins(), ServerWins()], [false, true])
  func isNoneOfAFormThatIsSavedTwice(_ policy: any MergePolicy, ifUnchanged: Bool) async throws {
    for atOnce in [false, true] {
      for texts in [["two", "one"], ["two", "three"], ["two", "two", "one", "two"]] {
        let world = try await world(policy)
        let shown = try await save(texts, in: world, ifUnchanged: ifUnchanged, atOnce: atOnce)
        #expect(shown == texts.last)
        #expect(try await world.engine.edits.conflicts().isEmpty)
      }
    }
  }

  /// Each copy that is changed is a form of its own.
  @Test func isThatOfAnotherCopyOfTheForm() async throws {
    let world = try await world(ServerWins())
    let form = try await read(world)
    var (first, second) = (form, form)
    first.text = "two"
    try await world.engine.edits.upsert(first)
    second.value.count = 11
    try await world.engine.edits.upsert(second)
    first.text = "three"
    try await world.engine.edits.upsert(first)
    second.isDone = true
    try await world.engine.edits.upsert(second)
    let shown = try await read(world)
    #expect(shown.text == "three" && shown.count == 11 && shown.isDone)
    #expect(try await world.engine.edits.conflicts().isEmpty)
    second.text = "four"
    await #expect { try await world.engine.edits.upsert(second, ifUnchanged: true) } throws: {
      ($0 as? SyncError)?.code == .changedMeanwhile
    }
  }

  /// The next letters are typed while the first ones are being saved.
  @Test func isNoneOfAFormThatIsChangedDuringItsSave() async throws {
    let world = try await world(ServerWins())
    var form = try await read(world)
    form.text = "two"
    let saved = form
    form = try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.upsert(saved)
      var form = saved
      form.text = "one"
      return form
    }
    try await world.engine.edits.upsert(form)
    #expect(try await read(world).text == "one")
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  /// What others have changed since stays.
  @Test func isThatOfASaveAfterAnotherDevicesChange() async throws {
    let world = try await world(LastWriteWins())
    var form = try await read(world)
    form.text = "two"
    try await world.engine.edits.upsert(form)
    _ = try await world.engine.sync()
    try await change(world, #"{"text":"two","isDone":true,"count":10}"#)
    form.value.count = 1
    try await world.engine.edits.upsert(form)
    let shown = try await read(world)
    #expect(shown.text == "two" && shown.isDone && shown.count == 1)
  }

  /// A save that fails has written nothing.
  @Test func isNoneOfAFormWhoseSaveHasFailed() async throws {
    let world = try await world(ServerWins())
    var form = try await read(world)
    form.text = "two"
    let first = form
    await #expect(throws: SyncError.self) {
      try await world.engine.edits.perform { (batch) throws(SyncError) in
        try batch.upsert(first)
        throw SyncError(.cancelled, during: "saving", "The app has changed its mind.")
      }
    }
    form.value.count = 5
    try await world.engine.edits.upsert(form)
    let shown = try await read(world)
    #expect(shown.text == "two" && shown.count == 5)
  }

  @Test func isNoneWithinAnUpdate() async throws {
    let world = try await world()
    let (engine, tasks) = (world.engine, 20)
    try await withThrowingTaskGroup { group in
      for _ in 0..<tasks {
        group.addTask {
          try await engine.edits.update(Meter.self, key: "m") { $0.count = ($0.count ?? 0) + 1 }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await read(world).value.count == 10 + tasks)
    #expect(try await engine.edits.update(Meter.self, key: "m") { $0.text } == "one")
    await #expect(
      performing: { try await engine.edits.update(Meter.self, key: "none") { $0.text = "new" } },
      throws: PushWorld.isCode(.invalidEdit))
    await #expect(
      performing: {
        try await engine.edits.perform { (batch) throws(SyncError) in
          try batch.update(RecordID(type: "meters", key: "none")) { $0["text"] = Array("0".utf8)[...] }
        }
      }, throws: PushWorld.isCode(.invalidEdit))
    #expect(world.here().keys.sorted() == ["m"])
  }
}

extension Payload {
  fileprivate init(_ text: String) { self.init(Array(text.utf8)) }
}

extension String {
  fileprivate func replacingText(_ text: String, with other: String) -> String {
    split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
  }
}
