import SyncPorts
import Synchronization

/// A monitor under check, and those who follow it.
struct ConnectivityBench: Sendable {
  let harness: ConnectivityHarness

  var monitor: any ConnectivityMonitor { harness.monitor }

  /// Has the network come or go.
  func become(_ connectivity: Connectivity) async throws {
    guard let become = harness.become else {
      throw Inapplicable(reason: "The harness cannot make the network come and go.")
    }
    try await become(connectivity)
  }

  /// What one stream has brought so far.
  final class Follower: Sendable {
    private let statuses = Mutex<[NetworkStatus]>([])

    var seen: [NetworkStatus] { statuses.withLock { $0 } }

    func see(_ status: NetworkStatus) { statuses.withLock { $0.append(status) } }

    /// Waits for so many statuses, and tells whether the network was there in each.
    func connectivity(ofFirst count: Int, _ sentence: String) async throws -> [Connectivity] {
      let hasCome = await Patience.lasts(until: { seen.count >= count })
      try expect(hasCome, "\(sentence) Only \(seen.map(\.connectivity)) came.")
      return seen.map(\.connectivity)
    }
  }

  /// Follows the monitor while a body lasts; the stream is made before it begins.
  func following(_ body: @Sendable (Follower) async throws -> Void) async throws {
    let stream = monitor.statuses()
    try await consuming(stream, body)
  }

  /// Consumes a stream while a body lasts.
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
