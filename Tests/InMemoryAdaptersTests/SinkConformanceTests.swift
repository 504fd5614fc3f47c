import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Testing

@Suite("The remote in memory, as a sink", .timeLimit(.minutes(10)))
struct SinkConformanceTests {
  @Test(arguments: SinkKind.allCases, SinkCheck.allCases)
  func keepsThePromisesOfASink(_ kind: SinkKind, _ check: SinkCheck) async throws {
    let outcome = try await check.run(on: World(kind.configuration).sinkHarness())
    guard case .skipped(let reason) = outcome else { return }
    #expect(kind.inapplicable.contains(check), "\(reason)")
    try Test.cancel("\(reason)")
  }
}

/// A sink of a server that reads numbers as doubles.
private struct RoundingSink: ForwardingSink {
  let base: any RemoteRecordSink

  func sent(_ change: OutgoingChange) -> OutgoingChange {
    guard case .upsert(let payload, let schemaVersion) = change.content else { return change }
    var rounded = change
    let text = String(decoding: payload.bytes, as: UTF8.self)
      .replacing("9007199254740993", with: "9007199254740992")
    rounded.content = .upsert(Payload(Array(text.utf8)), schemaVersion: schemaVersion)
    return rounded
  }
}

@Suite("A server that rounds numbers", .timeLimit(.minutes(10)))
struct RoundingTests {
  @Test func passesIfItsHarnessSaysSo() async throws {
    func harness() -> SinkHarness {
      let world = World(.privateZone)
      var harness = world.sinkHarness()
      harness.sink = RoundingSink(base: world.remote)
      return harness
    }
    await #expect(throws: ConformanceFailure.self) {
      try await SinkCheck.payloadIsKeptWhole.run(on: harness())
    }
    var declared = harness()
    declared.keepsEachDigit = false
    #expect(try await SinkCheck.payloadIsKeptWhole.run(on: declared) == .kept)
  }
}

/// The kinds of remotes to push edits to.
enum SinkKind: String, CaseIterable, Sendable {
  case privateZone, forgetful, publicDatabase, forgetfulPublicDatabase, timestampedCollection, numbering
  case twoAtOnce

  /// The checks that do not apply to this kind, as it declares. No other check may be skipped.
  var inapplicable: Set<SinkCheck> {
    switch self {
    case .forgetfulPublicDatabase: [.creationSentAgainBringsNothingBack]
    case .twoAtOnce: SinkCheck.ofGroups.union([.everyChangeHasItsOutcome])
    default: []
    }
  }

  var configuration: InMemoryRemote.Configuration {
    var configuration: InMemoryRemote.Configuration
    switch self {
    case .privateZone: configuration = .privateZone
    case .forgetful:
      configuration = .privateZone
      configuration.remembersKeys = false
    case .publicDatabase: configuration = .publicDatabase()
    case .forgetfulPublicDatabase:
      configuration = .publicDatabase()
      configuration.remembersKeys = false
    case .timestampedCollection: configuration = .timestampedCollection()
    case .numbering:
      configuration = .timestampedCollection()
      configuration.numberField = "number"
    case .twoAtOnce:
      configuration = .privateZone
      configuration.pushLimits = SinkLimits(maximumRecords: 2, maximumBytes: 200)
    }
    return configuration
  }
}

extension World {
  /// The test data as a sink's, with other clients that edit.
  func sinkHarness() -> SinkHarness {
    let source = harness()
    var harness = SinkHarness(
      sink: remote, upsert: source.upsert, delete: source.delete,
      read: { key in
        let request = PageRequest(
          entity: SinkHarness.entity, position: .start(since: nil), limit: 10_000, pass: 1)
        return try await self.remote.page(request).changes.first { $0.id?.key == key }
      })
    harness.remembersWhatIsGone =
      remote.configuration.remembersKeys || remote.configuration.sendsTombstones
    harness.serverManagedFields = remote.capabilities.serverManagedFields
    harness.reopen = { self.remote }
    return harness
  }
}
