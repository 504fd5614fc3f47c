/// The common part of all ``ConnectivityMonitor``s: keeps the status and feeds the streams.
///
/// An adapter holds one, reports what its platform says, and forwards ``status`` and
/// ``statuses()``.
public final class NetworkStatusFeed: ConnectivityMonitor {
  private let feed: ValueFeed<NetworkStatus>

  /// Creates a feed that begins with a status.
  public init(_ status: NetworkStatus = NetworkStatus(.unknown)) {
    feed = ValueFeed(status)
  }

  /// The last reported status.
  public var status: NetworkStatus { feed.value }

  /// The number of streams that are being consumed, by which tests detect leaks.
  package var subscribers: Int { feed.subscribers }

  /// Records a status, and passes it on if it differs from the last.
  public func report(_ status: NetworkStatus) { feed.send(status) }

  /// Streams the current status and then each change.
  public func statuses() -> AsyncStream<NetworkStatus> { feed.stream() }
}
