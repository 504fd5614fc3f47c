public import SyncPorts

/// A connectivity monitor whose status a test sets.
public final class ManualConnectivity: ConnectivityMonitor {
  private let feed: NetworkStatusFeed

  /// Creates a monitor with a status.
  public init(_ connectivity: Connectivity = .online, interface: NetworkStatus.Interface? = nil) {
    feed = NetworkStatusFeed(NetworkStatus(connectivity, interface: interface))
  }

  /// The current status.
  public var status: NetworkStatus {
    get { feed.status }
    set { feed.report(newValue) }
  }

  /// Whether the network is reachable. Setting it clears the interface.
  public var connectivity: Connectivity {
    get { feed.status.connectivity }
    set { feed.report(NetworkStatus(newValue)) }
  }

  /// A stream of the current status and of each change.
  public func statuses() -> AsyncStream<NetworkStatus> { feed.statuses() }

  /// The number of streams in use, for tests that all of them end.
  package var subscribers: Int { feed.subscribers }
}
