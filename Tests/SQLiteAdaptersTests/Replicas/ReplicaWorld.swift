import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncAdapters

#if SQLite
  import SQLiteAdapters
  import SyncJSON
#endif

/// Three devices and another client that edit the same records, with faults.
///
/// One seed determines everything.
struct ReplicaWorld {
  let remote: InMemoryRemote
  let replicas: [Replica]
  let schema: SyncSchema
  private let serverClock = ManualClock()
  private let directory: URL?
  private var random: SplitMix64
  private var edits = 0
  /// The last edit of each device and record that reached its outbox.
  ///
  /// It is missing if the device's process died during the edit.
  private(set) var last: [Made: Edit] = [:]
  /// The records that the other client has deleted.
  private(set) var deletedElsewhere: Set<RecordID> = []

  struct Made: Hashable {
    var replica: String
    var id: RecordID
  }

  init(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    schema = try SyncSchema(
      Entity("places"),
      Entity(
        "meters", references: [.to("places", by: "place")],
        stampField: Bool.random(using: &random) ? "edited" : nil))
    var configuration = [
      InMemoryRemote.Configuration.privateZone, .timestampedCollection(), .privateZone,
    ][Int(seed % 3)]
    configuration.remembersKeys = Bool.random(using: &random)
    configuration.pushLimits = SinkLimits(maximumRecords: Int.random(in: 1...5, using: &random))
    remote = InMemoryRemote(configuration: configuration, clock: serverClock)
    let policies: [any MergePolicy] = [LastWriteWins(), FieldwiseLastWriteWins(), ServerWins()]
    let policy = policies[Int.random(in: 0...2, using: &random)]
    var stores: [any LocalStore] = []
    var clocks: [ManualClock] = []
    var directory: URL?
    for number in 0..<3 {
      let skew = Duration.seconds(Int.random(in: -100...100, using: &random))
      let clock = ManualClock(timestamp: serverClock.timestamp + skew)
      clocks.append(clock)
      #if SQLite
        if number == Int(seed % 6) {
          let place = URL(
            fileURLWithPath: FileManager.default.fileExists(atPath: "/dev/shm")
              ? "/dev/shm" : NSTemporaryDirectory()
          )
          .appendingPathComponent("replicas-\(UUID().uuidString)")
          try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
          directory = place
          stores.append(
            try await SQLiteStore.open(
              path: place.appendingPathComponent("replica.db").path,
              configuration: .init(leaseClock: { clock.timestamp })))
          continue
        }
      #endif
      stores.append(InMemoryStore(identity: "replica-\(number)", leaseClock: { clock.timestamp }))
    }
    for store in stores { try await store.register(schema) }
    self.directory = directory
    let (schema, remote) = (schema, remote)
    replicas = zip(stores, clocks).enumerated().map { number, pair in
      Replica(
        "\(number)", store: pair.0, clock: pair.1, schema: schema, remote: remote, policy: policy)
    }
    self.random = random
  }

  func close() {
    if let directory { try? FileManager.default.removeItem(at: directory) }
  }

  mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// Makes one random event.
  mutating func step() async throws {
    let replica = replicas[number(in: 0...2)]
    pass(.milliseconds(number(in: 0...2000)))
    switch number(in: 0...11) {
    case 0...4: try await edit(replica)
    case 5: editElsewhere()
    case 6: replica.clock.timestamp = replica.clock.timestamp + .seconds(number(in: -120...120))
    case 7: await misbehave()
    default: await sync(replica)
    }
  }

  private func pass(_ duration: Duration) {
    serverClock.advance(by: duration)
    for replica in replicas { replica.clock.advance(by: duration) }
  }

  private mutating func id() -> RecordID {
    number(in: 0...2) == 0
      ? RecordID(type: "places", key: "p\(number(in: 1...3))")
      : RecordID(type: "meters", key: "m\(number(in: 1...5))")
  }

  private mutating func edit(_ replica: Replica) async throws {
    let id = id()
    edits += 1
    let (value, field) = (edits, number(in: 0...1) == 0 ? "a" : "b")
    let (place, isDeletion) = ("p\(number(in: 1...4))", id.type == "meters" && number(in: 0...4) == 0)
    if number(in: 0...7) == 0 {
      replica.crashing.crash(afterWrites: 0, isCommitted: number(in: 0...1) == 0)
    }
    let made = Made(replica: replica.name, id: id)
    let earlier = try await replica.pending(id)
    do {
      last[made] = try await replica.edit(id) { batch throws(SyncError) in
        if isDeletion { return try batch.delete(id) }
        try batch.set(id) { fields throws(SyncError) in
          fields["id"] = JSONString.quoted(id.key)[...]
          fields[FieldName(field)] = Array("\(value)".utf8)[...]
          if id.type == "meters" { fields["place"] = JSONString.quoted(place)[...] }
        }
      }
    } catch {
      // An edit may refer to a missing place, and is then refused.
      guard error.code == .invalidEdit || error.code == .storeFailure else { throw error }
      replica.crashing.restart()
      if error.code == .storeFailure {
        // The process may have died during the edit. The store shows whether the edit was made.
        let pending = try await replica.pending(id)
        // A record that was created here and never pushed may have been deleted again.
        last[made] = pending?.edit ?? (earlier == nil ? last[made] : nil)
      }
    }
    replica.crashing.restart()
  }

  private mutating func editElsewhere() {
    let id = id()
    edits += 1
    if id.type == "meters", number(in: 0...3) == 0 {
      deletedElsewhere.insert(id)
      return remote.delete(id.type, id.key)
    }
    let place = remote.records(of: "places").first?.key
    guard id.type == "places" || place != nil else { return }
    remote.upsert(
      id.type, id.key,
      #"{"id":"\#(id.key)","a":\#(edits)"# + (id.type == "meters" ? #","place":"\#(place ?? "")"}"# : "}"))
  }

  private mutating func misbehave() async {
    let lost = SyncError(.remoteUnavailable, during: "answering")
    switch number(in: 0...4) {
    case 0: remote.behave(.fail(lost), onNextPushes: number(in: 1...2))
    case 1: remote.behave(.loseAnswer(afterApplying: number(in: 0...4), lost), onNextPushes: 1)
    case 2: remote.behave(.loseAnswer(lost), onNextPushes: 1)
    case 3: remote.behave(.fail(lost), onNext: 1)
    default: remote.expireTokens()
    }
  }

  /// Runs a sync that may die at any of its transactions.
  private mutating func sync(_ replica: Replica) async {
    if number(in: 0...2) == 0 {
      replica.crashing.crash(afterWrites: number(in: 0...9), isCommitted: number(in: 0...1) == 0)
    }
    let direction: SyncRequest.Direction = [.both, .both, .push, .pull][number(in: 0...3)]
    // The sync may fail as scripted. Its results are checked at the end.
    _ = try? await replica.engine(pageSize: number(in: 1...4)).sync(SyncRequest(direction: direction))
    replica.crashing.restart()
    // A dead process leaves its lease behind.
    pass(.seconds(20))
  }

  /// Runs without faults until no sync changes anything.
  mutating func comeToRest() async throws -> Bool {
    remote.behaveWell()
    remote.takePushesWell()
    // Leases written by a clock that was set back expire too.
    pass(.seconds(600))
    for _ in 1...8 {
      var isAtRest = true
      for replica in replicas {
        pass(.seconds(20))
        let result = try await replica.engine(pageSize: 3).sync()
        if !result.isEmpty || result.pushed.accepted > 0 || result.pushed.pending > 0 { isAtRest = false }
      }
      if isAtRest { return true }
    }
    return false
  }
}
