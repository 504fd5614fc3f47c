/// Reports whether the network is there, and each change of that.
///
/// For implementers: report every change at once. The engine debounces a network that comes and
/// goes, and a monitor that smooths its reports would break that. A ``NetworkStatusFeed`` inside
/// keeps the status and the streams, so an adapter has only to call `report`.
public protocol ConnectivityMonitor: Sendable {
  /// The current status.
  var status: NetworkStatus { get }

  /// Streams the current status, then each change in order, until the consuming task is cancelled.
  ///
  /// Each call gives a stream of its own. If its consumer is slow, at least the newest sixteen are
  /// kept, so a loss that has ended meanwhile is still seen as a loss. A status that equals the
  /// previous one is no change. A stream that is no longer consumed leaves nothing behind.
  func statuses() -> AsyncStream<NetworkStatus>
}

extension ConnectivityMonitor {
  /// Whether the network is there.
  public var connectivity: Connectivity { status.connectivity }
}
