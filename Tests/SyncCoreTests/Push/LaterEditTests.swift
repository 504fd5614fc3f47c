import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("Which of two edits is the later one", .timeLimit(.minutes(10)))
struct LaterEditTests {
  /// Two devices that edit one record at 10:00:00 and at 10:00:05.
  private func edited(
    _ stamping: Stamping
  ) async throws -> (first: PushWorld, second: PushWorld) {
    let meters = [Entity("meters", stamping: stamping)]
    let sink = { @Sendable (remote: InMemoryRemote) -> any RemoteRecordSink in
      RewritingSink(base: remote, keepsUnknownMembers: stamping != .none) { _ in }
    }
    let first = try await PushWorld(meters, name: "a", sink: sink)
    let second = try await PushWorld(meters, name: "b", beside: first, sink: sink)
    try await first.write("meters", "m", ["name": "0"])
    for device in [first, second] { _ = try await device.engine.sync() }
    first.clock.advance(by: .seconds(60))
    try await first.write("meters", "m", ["name": "10"])
    first.clock.advance(by: .seconds(4))
    try await second.write("meters", "m", ["name": "15"])
    return (first, second)
  }

  private func push(_ devices: [PushWorld]) async throws {
    for device in devices + devices {
      device.clock.advance(by: .seconds(5))
      #expect(try await device.engine.sync().failures.isEmpty)
    }
    for device in devices { #expect(device.here() == device.there()) }
  }

  @Test(arguments: [Stamping.automatic, .field("edited")], [false, true])
  func isTheOneThatWasMadeLaterIfEditsAreStamped(_ stamping: Stamping, _ isReversed: Bool) async throws {
    let (first, second) = try await edited(stamping)
    try await push(isReversed ? [second, first] : [first, second])
    #expect(first.there()["m"]?.contains(#""name":15"#) ?? false)
  }

  @Test(arguments: [false, true])
  func isTheOneThatArrivesLaterIfNoneIs(_ isReversed: Bool) async throws {
    let (first, second) = try await edited(.none)
    try await push(isReversed ? [second, first] : [first, second])
    #expect(first.there()["m"] == #"{"name":\#(isReversed ? 10 : 15)}"#)
    // The log has the one that was replaced.
    let log = try await (isReversed ? first : second).engine.edits.conflicts()
    #expect(log.map(\.winner) == [.local])
  }

  // What was sent may have arrived before the copy that is here now.
  @Test func isNotAnEditWhoseAnswerWasLost() async throws {
    let (first, second) = try await edited(.none)
    first.remote.behave(
      .loseAnswer(SyncError(.remoteUnavailable, during: "pushing")), onNextPushes: 1)
    _ = try? await first.engine.push()
    second.clock.advance(by: .seconds(60))
    _ = try await second.engine.sync()
    #expect(second.there()["m"] == #"{"name":15}"#)
    try await push([first, second])
    #expect(first.there()["m"] == #"{"name":15}"#)
  }

  @Test func isNoDeletionThatArrivedBeforeAnEdit() async throws {
    let (first, second) = try await edited(.none)
    second.clock.advance(by: .seconds(1))
    second.remote.delete("meters", "m")
    try await push([first, second])
    #expect(first.there().isEmpty && first.here().isEmpty && second.here().isEmpty)
  }

  // MARK: Clocks that were put right

  /// A device that edits a record under a clock a year ahead, which is then put right.
  private func misstamped() async throws -> (wrong: PushWorld, right: PushWorld) {
    let wrong = try await PushWorld([PushWorld.meters], name: "a")
    let right = try await PushWorld([PushWorld.meters], name: "b", beside: wrong)
    try await wrong.write("meters", "m", ["name": "0"])
    for device in [wrong, right] { _ = try await device.engine.sync() }
    wrong.clock.advance(by: .seconds(31_536_000))
    try await wrong.write("meters", "m", ["name": "1"])
    wrong.clock.advance(by: .seconds(-31_536_000))
    return (wrong, right)
  }

  @Test func isReportedAndTrustedNoMoreThanAPulledOne() async throws {
    let (wrong, right) = try await misstamped()
    wrong.clock.advance(by: .seconds(60))
    for device in [wrong, right] {
      _ = try await device.engine.sync()
      #expect(device.recorder.events.contains { if case .clockAhead = $0 { true } else { false } })
    }
    // A later edit of the other device wins.
    try await right.write("meters", "m", ["name": "2"])
    for device in [right, wrong] { _ = try await device.engine.sync() }
    #expect(wrong.here()["m"] == #"{"name":2}"#)
  }

  @Test func isAnotherDevicesEditOfTheTimeSinceTheClockWasPutRight() async throws {
    let (wrong, right) = try await misstamped()
    try await right.write("meters", "m", ["name": "2"])
    _ = try await right.engine.sync()
    _ = try await wrong.engine.sync()
    _ = try await right.engine.sync()
    // The time at which the edit was made is unknown, and it is pushed later.
    #expect(right.here() == wrong.here() && wrong.here() == wrong.there())
    try await right.write("meters", "m", ["name": "3"])
    for device in [right, wrong] { _ = try await device.engine.sync() }
    #expect(wrong.here()["m"] == #"{"name":3}"#)
  }

  @Test func isTheEditOfWhatWasDeletedUnderAClockAhead() async throws {
    let first = try await PushWorld([PushWorld.meters], name: "a")
    let second = try await PushWorld([PushWorld.meters], name: "b", beside: first)
    try await first.write("meters", "m")
    for device in [first, second] { _ = try await device.engine.sync() }
    first.clock.advance(by: .seconds(200))
    try await first.delete("meters", "m")
    first.clock.advance(by: .seconds(-200))
    for device in [first, second] { _ = try await device.engine.sync() }
    try await second.write("meters", "m", ["name": "2"])
    for device in [second, first] { _ = try await device.engine.sync() }
    #expect(first.here()["m"] == #"{"name":2}"#)
  }
}
