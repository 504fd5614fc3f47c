import SyncPorts
import Synchronization

/// A monitor under check, and the readers of its streams.
struct ConnectivityBench: Sendable {
  let harness: ConnectivityHarness

  var monitor: any ConnectivityMonitor { harness.monitor }

  /// Makes the network reachable or unreachable.
  func become(_ connectivity: Connectivity) async throws {
    guard let become = harness.become else {
      throw Inapplicable(reason: "The harness cannot make the network come and go.")
    }
    try await become(connectivity)
  }

  /// The statuses that one stream has delivered.
  final class Follower: Sendable {
    private let statuses = Mutex<[NetworkStatus]>([])

    var seen: [NetworkStatus] { statuses.withLock { $0 } }

    func see(_ status: NetworkStatus) { statuses.withLock { $0.append(status) } }

    /// Waits for this many statuses, and returns the connectivity of each.
    func connectivity(ofFirst count: Int, _ sentence: String) async throws -> [Connectivity] {
      let hasCome = await Patience.lasts(until: { seen.count >= count })
      try expect(hasCome, "\(sentence) Only \(seen.map(\.connectivity)) came.")
      return seen.map(\.connectivity)
    }
  }

  /// Follows the monitor during a body. The stream exists before the body begins.
  func following(_ body: @Sendable (Follower) async throws -> Void) async throws {
    let stream = monitor.statuses()
    try await consuming(stream, body)
  }

  /// Consumes a stream during a body.
  func consuming(
    _ stream: AsyncStream<NetworkStatus>, _ body: @Sendable (Follower) async throws -> Void
  ) async throws {
    let follower = Follower()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for await status in stream { follower.see(status) } }
      defer { group.cancelAll() }
      try await body(follower)
    }
  }
}
