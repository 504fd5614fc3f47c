import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters
import SyncAdapters

extension Stage {
  /// Edits made offline wait, and are pushed once the network is back and stable.
  func offline() async throws(SyncError) -> JSON {
    wait(until: 12)
    let coordinator = Coordination(of: a)
    return try await coordinator.running { (turn) throws(SyncError) in
      a.network.connectivity = .offline
      await turn.networkChange()
      say("A", "loses the network")
      for number in 1...3 {
        wait(until: 12, number)
        try await a.rename("cellar-\(number)", mac: "AA:BB:CC:DD:EF:0\(number)", to: "Pipe \(number)")
        say("A", "finds a meter and calls it \"Pipe \(number)\"")
      }
      do throws(SyncError) {
        try await sync(a)
      } catch {
        guard error.code == .offline else { throw error }
        say("A", "tries to sync, and learns at once that it is offline")
      }
      let queued = try await a.pending().count
      let requests = remote.pushCounters.requests
      wait(until: 12, 30)
      say("A", "has the network back; \(Counted(queued, "edit waits", "edits wait").grouped)")
      a.network.connectivity = .online
      await turn.networkChange()
      await turn.settling(on: clock)
      let outcome = await turn.sync()
      say("A", "has waited until it was stable, and synced by itself: \(outcome)")
      let left = try await a.pending().count
      try await sync(b)
      let onB = try await b.meters().count { $0.name.hasPrefix("Pipe ") }
      return [
        "queued": .integer(queued), "drained": .integer(queued - left),
        "requests": .integer(remote.pushCounters.requests - requests), "onB": .integer(onB),
      ]
    }
  }
}
