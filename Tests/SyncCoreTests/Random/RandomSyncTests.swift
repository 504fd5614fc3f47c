import CanonicalSync
import Foundation
import InMemoryAdapters
import Testing

@Suite("Whatever happens,", .timeLimit(.minutes(10)))
struct RandomSyncTests {
  /// How many worlds are tried: 300, many more in a soak, and fewer where a sanitizer makes each of them slow.
  static let worlds: UInt64 =
    if ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] != nil {
      5000
    } else if ProcessInfo.processInfo.environment["CANONICALSYNC_BRIEF"] != nil {
      60
    } else {
      300
    }

  static let chunks = stride(from: 0, to: worlds, by: 20).map { $0..<$0 + 20 }

  @Test(arguments: chunks)
  func theStoreConvergesOnceItStops(_ seeds: Range<UInt64>) async throws {
    for seed in seeds {
      // On one thread, so that a seed that fails fails again.
      try await OneThread.run { try await self.converges(seed) }
    }
  }

  private func converges(_ seed: UInt64) async throws {
    let world = try RandomWorld(seed: seed)
    for _ in 1...25 { world.edit() }
    for _ in 1...world.number(in: 2...6) {
      await trouble(world, seed)
      for _ in 0...world.number(in: 0...12) { world.edit() }
      world.clock.advance(by: .seconds(1))
    }
    world.calmDown()
    var differences = ["nothing was synced"]
    for _ in 1...4 where !differences.isEmpty {
      world.clock.advance(by: .seconds(25 * 3600))
      let result = try await world.sync(SyncRequest(allowsMassDeletion: true))
      #expect(result.isBalanced, "seed \(seed)")
      #expect(result.failures.isEmpty && !result.wasCancelled, "seed \(seed)")
      differences = try await world.audit.differences(from: world.remote, poisoned: world.poisoned)
    }
    #expect(differences == [], "seed \(seed), \(world.remote.configuration)")
    #expect(world.audit.dangling == [], "seed \(seed), \(world.remote.configuration)")
  }

  /// A sync among faults: it may fail, but only as it was made to.
  private func trouble(_ world: RandomWorld, _ seed: UInt64) async {
    do throws(SyncError) {
      let result = try await world.sync()
      #expect(result.isBalanced, "seed \(seed): \(result)")
    } catch {
      let codes: [SyncError.Code] = [.remoteUnavailable, .authentication]
      #expect(codes.contains(error.code), "seed \(seed): \(error)")
    }
  }
}
