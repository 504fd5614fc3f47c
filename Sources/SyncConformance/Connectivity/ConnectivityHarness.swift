public import SyncPorts

/// Access of the checks to a connectivity monitor.
///
/// One harness has one monitor, whose streams have no other readers, and serves one check.
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
  /// Makes the network reachable (`online`) or unreachable (`offline`).
  ///
  /// It returns after the monitor has noticed. It is `nil` if the network cannot be changed.
  public var become: (@Sendable (Connectivity) async throws -> Void)?
  /// The number of streams in use; `nil` if it is unknown.
  public var followers: (@Sendable () -> Int)?

  /// Creates access to a monitor. Checks that need a `nil` function are skipped.
  public init(
    monitor: any ConnectivityMonitor, become: (@Sendable (Connectivity) async throws -> Void)? = nil,
    followers: (@Sendable () -> Int)? = nil
  ) {
    self.monitor = monitor
    self.become = become
    self.followers = followers
  }
}
