import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters

extension Stage {
  /// The remote accepts two of three edits.
  ///
  /// The third stays with the reason, and holds up no other.
  func refusal() async throws(SyncError) -> JSON {
    wait(until: 14)
    remote.rule(.refused(reason: "The name is not allowed."), on: Meter.recordType, "garden-2")
    for (number, name) in [(1, "Roses"), (2, "Weeds"), (3, "Lawn")] {
      try await a.rename("garden-\(number)", mac: "AA:BB:CC:DD:F0:0\(number)", to: name)
    }
    say("A", "renames three meters")
    let result = try await sync(a)
    let refused = try await a.pending().compactMap { entry -> (key: String, reason: String)? in
      if case .refused(let reason, _) = entry.state { (entry.id.key, reason) } else { nil }
    }
    for (key, reason) in refused { say("A", "keeps its edit of \"\(key)\": \(reason)") }
    let requests = remote.pushCounters.requests
    try await sync(a)
    let again = remote.pushCounters.requests - requests
    wait(until: 14, 10)
    try await a.rename("garden-2", mac: "AA:BB:CC:DD:F0:02", to: "Herbs")
    remote.rule(nil, on: Meter.recordType, "garden-2")
    say("A", "gets a name that is allowed")
    try await settle()
    return [
      "accepted": .integer(result.pushed.accepted), "refused": .array(refused.map { .string($0.key) }),
      "reasons": .array(refused.map { .string($0.reason) }), "requestsForItAfterwards": .integer(again),
      "left": .integer(try await a.pending().count),
      "name": try metersAtRemote()["garden-2"].map { .string($0.name) } ?? .null,
    ]
  }
}
