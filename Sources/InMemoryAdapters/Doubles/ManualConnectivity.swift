public import SyncPorts

/// A connectivity monitor that says what it is told to say.
public final class ManualConnectivity: ConnectivityMonitor {
  private let feed: NetworkStatusFeed

  /// A monitor in a state.
  public init(_ connectivity: Connectivity = .online, interface: NetworkStatus.Interface? = nil) {
    feed = NetworkStatusFeed(NetworkStatus(connectivity, interface: interface))
  }

  /// What is known now.
  public var status: NetworkStatus {
    get { feed.status }
    set { feed.report(newValue) }
  }

  /// Whether the network is there, by no interface in particular.
  public var connectivity: Connectivity {
    get { feed.status.connectivity }
    set { feed.report(NetworkStatus(newValue)) }
  }

  /// The status now, and then each change.
  public func statuses() -> AsyncStream<NetworkStatus> { feed.statuses() }

  /// How many streams are being consumed, for tests that nothing is left behind.
  package var subscribers: Int { feed.subscribers }
}
