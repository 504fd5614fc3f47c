public import SyncPorts

/// How the checks get at a connectivity monitor: one harness holds one monitor, which nobody else follows, and serves one check.
///
/// ```swift
/// @Test(arguments: ConnectivityCheck.allCases)
/// func conforms(_ check: ConnectivityCheck) async throws {
///   let monitor = MyMonitor()
///   let harness = ConnectivityHarness(monitor: monitor, become: { monitor.simulate($0) })
///   #expect(try await check.run(on: harness) == .kept)
/// }
/// ```
public struct ConnectivityHarness: Sendable {
  /// The monitor to check.
  public var monitor: any ConnectivityMonitor
  /// Brings it about that the network is there (`online`) or away (`offline`), and returns once the monitor has noticed; `nil` where
  /// the network cannot be had to change.
  public var become: (@Sendable (Connectivity) async throws -> Void)?
  /// How many streams are being consumed; `nil` where nobody can tell.
  public var followers: (@Sendable () -> Int)?

  /// Describes how to get at a monitor; what cannot be done stays `nil`, and the checks that need it are skipped.
  public init(
    monitor: any ConnectivityMonitor, become: (@Sendable (Connectivity) async throws -> Void)? = nil,
    followers: (@Sendable () -> Int)? = nil
  ) {
    self.monitor = monitor
    self.become = become
    self.followers = followers
  }
}
