/// The part of a ``ConnectivityMonitor`` that is the same for all: it keeps the status and hands changes to the streams.
///
/// An adapter holds one, reports what its platform says, and forwards ``status`` and ``statuses()``.
public final class NetworkStatusFeed: ConnectivityMonitor {
  private let feed: ValueFeed<NetworkStatus>

  /// A feed that begins with a status.
  public init(_ status: NetworkStatus = NetworkStatus(.unknown)) {
    feed = ValueFeed(status)
  }

  /// The status that was reported last.
  public var status: NetworkStatus { feed.value }

  /// How many streams are being consumed, for tests that nothing is left behind.
  package var subscribers: Int { feed.subscribers }

  /// Takes note of a status, and passes it on if it is another than the last.
  public func report(_ status: NetworkStatus) { feed.send(status) }

  /// The status now, and then each change.
  public func statuses() -> AsyncStream<NetworkStatus> { feed.stream() }
}
