#if os(Linux)
  import Dispatch
  public import SyncModels
  public import SyncPorts

  /// Knows by the Linux kernel's own messages whether the network is there.
  ///
  /// The network counts as there when a link other than the loopback is up and running, has an address that is meant for more than the
  /// link itself, and a route to everywhere leads over it. Of several the one with the lowest metric tells the kind of interface.
  /// Until the kernel has listed what there is, a few milliseconds after the start, nobody knows.
  ///
  /// Nothing is asked again and again: the kernel tells each change, and what it drops under load is listed anew. That the way leads
  /// somewhere is more than the kernel knows; ``ProbeMonitor`` finds out.
  public final class NetlinkMonitor: ConnectivityMonitor {
    private let feed = NetworkStatusFeed()
    // Dispatch's objects may be used from any thread, though its declarations don't say so.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// One queue for all: they have little to do, and a monitor leaves none behind.
    private static let queue = DispatchQueue(label: "network status", qos: .utility)

    /// Begins to listen.
    ///
    /// - Parameter needsDefaultRoute: Whether the network only counts as there when there is a route to everywhere. Without, as
    ///   for machines that only talk to neighbours, any address of a running link is enough.
    /// - Throws: `invalidConfiguration` where the system gives no such socket, as in some sandboxes.
    public init(needsDefaultRoute: Bool = true) throws(SyncError) {
      let socket: NetlinkSocket
      do throws(SystemError) {
        socket = try NetlinkSocket()
      } catch {
        throw SyncError(
          .invalidConfiguration, during: "listening to the kernel's route messages",
          "The system gives no netlink socket: \(error).", underlying: error)
      }
      let listener = NetlinkListener(socket: socket, feed: feed, needsDefaultRoute: needsDefaultRoute)
      source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: Self.queue)
      // The handlers hold the listener, never the monitor, whose end is the end of the listening.
      source.setEventHandler { [source] in if !listener.hear() { source.cancel() } }
      source.setCancelHandler { socket.close() }
      if !listener.begin() { source.cancel() }
      source.resume()
    }

    deinit { source.cancel() }

    /// What is known now; after ``stop()`` what was known last.
    public var status: NetworkStatus { feed.status }

    /// The status now, and then each change.
    public func statuses() -> AsyncStream<NetworkStatus> { feed.statuses() }

    /// Ends the listening, for good; a second call does nothing. So does letting go of the monitor.
    public func stop() { source.cancel() }
  }
#endif
