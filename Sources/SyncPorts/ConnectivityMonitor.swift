/// Somebody who knows whether the network is there, and tells when that changes.
///
/// For whoever implements it: report what is so, at once and every time. That a network which comes and goes must not start a sync
/// each time is the engine's to see to, and a monitor that smooths its reports makes that wrong. A
/// ``NetworkStatusFeed`` inside keeps the status and the streams, so an adapter has only to `report`.
public protocol ConnectivityMonitor: Sendable {
  /// What is known now.
  var status: NetworkStatus { get }

  /// The status now, and then each change in the order in which they happened, until the consuming task is cancelled.
  ///
  /// Each call gives a stream of its own. Where its consumer is slow, at least the newest sixteen are kept, so a loss that was made
  /// good meanwhile is still seen as a loss. A status that equals the one before is no change. A stream that is
  /// no longer consumed leaves nothing behind.
  func statuses() -> AsyncStream<NetworkStatus>
}

extension ConnectivityMonitor {
  /// Whether the network is there.
  public var connectivity: Connectivity { status.connectivity }
}
