import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("Three devices and a remote", .timeLimit(.minutes(20)))
struct ReplicaTests {
  /// The seeds of the worlds; `CANONICALSYNC_SEED` replays a single one.
  static let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CANONICALSYNC_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    if environment["CANONICALSYNC_SOAK"] != nil { return Array(0..<5000) }
    return environment["CANONICALSYNC_BRIEF"] != nil ? Array(0..<40) : Array(0..<300)
  }()

  static let chunks = stride(from: 0, to: seeds.count, by: 20).map {
    Array(seeds[$0..<min($0 + 20, seeds.count)])
  }

  @Test(arguments: chunks)
  func comeToTheSameRecordsWithoutLosingAnEdit(_ seeds: [UInt64]) async throws {
    for seed in seeds {
      let replay = "CANONICALSYNC_SEED=\(seed) swift test --filter ReplicaTests plays it again"
      var world = try await ReplicaWorld(seed: seed)
      defer { world.close() }
      for _ in 0..<world.number(in: 10...60) { try await world.step() }
      #expect(try await world.comeToRest(), "\(replay)")
      for type in world.schema.entities.map(\.type) {
        let remote = Dictionary(
          uniqueKeysWithValues: world.remote.records(of: type).map { ($0.key, $0.payload.text) })
        for replica in world.replicas {
          let records = try await replica.records(type)
          #expect(records == remote, "Device \(replica.name), \(type); \(replay)")
        }
      }
      for replica in world.replicas {
        #expect(try await replica.pendingCount() == 0, "Device \(replica.name); \(replay)")
      }
      checkEffects(of: world.remote, replay)
      try await checkThatNothingWasLost(in: world, replay)
    }
  }

  /// Checks that each base has one successor, and each idempotency key one effect.
  private func checkEffects(of remote: InMemoryRemote, _ replay: String) {
    struct Place: Hashable {
      var id: RecordID
      var base: Version
    }
    var places: Set<Place> = []
    var names: Set<IdempotencyKey> = []
    for effect in remote.pushEffects {
      if let base = effect.base {
        #expect(places.insert(Place(id: effect.id, base: base)).inserted, "\(effect.id); \(replay)")
      }
      #expect(names.insert(IdempotencyKey("\(effect.id) \(effect.key)")).inserted, "\(effect.id); \(replay)")
    }
  }

  /// Checks that each device's last edits reached the remote or the log of conflicts.
  ///
  /// A deletion may be another client's.
  private func checkThatNothingWasLost(in world: ReplicaWorld, _ replay: String) async throws {
    let applied = world.remote.pushEffects
    for replica in world.replicas {
      let conflicts = try await replica.conflicts()
      for (made, edit) in world.last where made.replica == replica.name {
        let isApplied = applied.contains { effect in
          effect.id == made.id
            && (effect.stamp == edit.stamp || effect.isDeletion && edit.content == .deletion)
        }
        let isLogged = conflicts.contains { $0.id == made.id && $0.local.stamp == edit.stamp }
        let isGone =
          world.remote.records(of: made.id.type).allSatisfy { $0.key != made.id.key }
          || edit.content == .deletion && world.deletedElsewhere.contains(made.id)
        #expect(isApplied || isLogged || isGone, "\(made.id) of device \(made.replica); \(replay)")
      }
    }
  }
}
