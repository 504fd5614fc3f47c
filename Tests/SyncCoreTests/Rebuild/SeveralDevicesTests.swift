import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

/// R4.8: devices that collapse the same duplicates.
@Suite("Duplicates that several devices collapse", .timeLimit(.minutes(10)))
struct SeveralDevicesTests {
  private static let tags = Entity("tags", naturalKey: NaturalKey("name", normalizedBy: .alphanumeric))
  private static let notes = Entity("notes", references: [.to("tags", by: "tag")])
  private static let entities = [tags, notes]

  /// Two devices that elected different winners, each by an edit of its own.
  private func elected(_ policy: any MergePolicy) async throws -> (phone: PushWorld, tablet: PushWorld) {
    let edits = EditOptions(policy: policy)
    let phone = try await PushWorld(Self.entities, name: "phone", edits: edits)
    let tablet = try await PushWorld(Self.entities, name: "tablet", beside: phone, edits: edits)
    try await phone.write("tags", "x", ["name": #""Work""#])
    try await phone.write("tags", "y", ["name": #""work""#])
    try await phone.write("notes", "n", ["tag": #""x""#])
    for device in [phone, tablet] { _ = try await device.engine.sync() }
    try await tablet.write("tags", "y", ["colour": #""blue""#, "size": "1"])
    try await phone.write("tags", "x", ["colour": #""red""#])
    for device in [phone, tablet] { _ = try await device.engine.rebuildDuplicates(of: "tags", version: 1) }
    return (phone, tablet)
  }

  private func expectEqual(_ devices: [PushWorld], _ comment: Comment? = nil) async throws {
    let fresh = try await PushWorld(Self.entities, name: "fresh", beside: devices[0])
    _ = try await fresh.engine.sync()
    for type in ["tags", "notes"] as [RecordType] {
      let there = devices[0].there(type)
      #expect(fresh.here(type) == there, comment)
      for device in devices {
        #expect(device.here(type) == there, comment)
        #expect(try await device.outbox(type).isEmpty, comment)
      }
    }
  }

  @Test func convergeOnTheRecordThatWasWrittenLast() async throws {
    let (phone, tablet) = try await elected(LastWriteWins())
    for _ in 0..<3 { for device in [phone, tablet] { _ = try await device.engine.sync() } }
    try await expectEqual([phone, tablet])
    #expect(phone.there("tags") == ["x": #"{"name":"Work","colour":"red"}"#])
    #expect(phone.there("notes") == ["n": #"{"tag":"x"}"#])
    // The edit of the record that another device has deleted is in the log, and was told of.
    let log = try await tablet.engine.edits.conflicts()
    let given = log.filter { $0.id.key == "x" && $0.local.content != .deletion }
    #expect(given.map(\.winner) == [.remote])
    #expect(tablet.recorder.events.contains { if case .conflict = $0 { true } else { false } })
  }

  @Test func giveEditsOfTheOtherRecordToTheWinner() async throws {
    let (phone, tablet) = try await elected(FieldwiseLastWriteWins())
    for _ in 0..<3 { for device in [phone, tablet] { _ = try await device.engine.sync() } }
    try await expectEqual([phone, tablet])
    #expect(phone.there("tags") == ["x": #"{"name":"Work","colour":"red","size":1}"#])
  }

  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func convergeAfterAnyEdits(_ seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
    let edits = EditOptions(
      policy: seed.isMultiple(of: 2) ? FieldwiseLastWriteWins() as any MergePolicy : LastWriteWins())
    var devices = [try await PushWorld(Self.entities, name: "d0", edits: edits)]
    for number in 1..<(2 + Int(seed % 2)) {
      devices.append(try await PushWorld(Self.entities, name: "d\(number)", beside: devices[0], edits: edits))
    }
    let remote = devices[0].remote
    for _ in 0..<40 {
      let device = pick(devices)
      switch Int.random(in: 0..<12, using: &random) {
      case 0...1:
        try await device.write(
          "tags", "t\(Int.random(in: 0..<8, using: &random))",
          ["name": pick([#""Work""#, #""work""#, #""W-ork""#, #""Home""#])])
      case 2...4:
        guard let key = device.here("tags").keys.sorted().randomElement(using: &random) else { continue }
        try await device.write("tags", key, ["colour": pick(["1", "2", "3"])])
      case 5...6:
        guard let key = device.here("tags").keys.sorted().randomElement(using: &random) else { continue }
        try await device.write("notes", "n\(Int.random(in: 0..<4, using: &random))", ["tag": "\"\(key)\""])
      case 7:
        let id = RecordID(type: "tags", key: "t\(Int.random(in: 0..<8, using: &random))")
        if Bool.random(using: &random) {
          remote.rule(.refused(reason: "no"), on: "tags", id.key)
        } else {
          remote.rule(nil, on: "tags", id.key)
        }
      case 8...9: _ = try await device.engine.rebuildDuplicatesIfPulled()
      default: _ = try? await device.engine.sync()
      }
    }
    for number in 0..<8 { remote.rule(nil, on: "tags", "t\(number)") }
    for round in 0..<8 {
      for device in devices {
        _ = try await device.engine.sync()
        _ = try await device.engine.rebuildDuplicatesIfPulled()
        if round == 0 {
          for type in ["tags", "notes"] as [RecordType] { try await device.engine.edits.retry(type) }
        }
      }
    }
    try await expectEqual(devices, "seed \(seed)")
  }
}

extension SyncEngine {
  fileprivate func rebuildDuplicatesIfPulled() async throws {
    do {
      _ = try await rebuildDuplicates(of: "tags", version: 1)
    } catch  where error.code == .pullIncomplete {}
  }
}
