#if os(Linux)
  import Dispatch
  public import SyncModels
  public import SyncPorts

  /// Reports connectivity by the Linux kernel's own messages.
  ///
  /// The network counts as online if a link other than the loopback is up and running, has an
  /// address with more than link scope, and carries a default route. Of several links the one with
  /// the lowest metric determines the kind of interface. The status is unknown until the kernel has
  /// listed everything, a few milliseconds after the start.
  ///
  /// The monitor never polls: the kernel reports each change, and after dropped messages everything
  /// is listed again. The kernel does not know whether a route leads to the remote;
  /// ``ProbeMonitor`` finds out.
  public final class NetlinkMonitor: ConnectivityMonitor {
    private let feed = NetworkStatusFeed()
    // Dispatch's objects may be used from any thread, though their declarations do not say so.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// One queue for all monitors: they have little to do, and a released monitor leaves no queue
    /// behind.
    private static let queue = DispatchQueue(label: "network status", qos: .utility)

    /// Starts listening.
    ///
    /// - Parameter needsDefaultRoute: Whether online requires a default route. If not, any address
    ///   of a running link is enough, as for machines that talk only to neighbours.
    /// - Throws: `invalidConfiguration` if the system provides no such socket, as in some
    ///   sandboxes.
    public init(needsDefaultRoute: Bool = true) throws(SyncError) {
      let socket: NetlinkSocket
      do throws(SystemError) {
        socket = try NetlinkSocket()
      } catch {
        throw SyncError(
          .invalidConfiguration, during: "listening to the kernel's route messages",
          "The system provides no netlink socket: \(error).", underlying: error)
      }
      let listener = NetlinkListener(socket: socket, feed: feed, needsDefaultRoute: needsDefaultRoute)
      source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: Self.queue)
      // The handlers hold the listener, never the monitor: releasing the monitor ends the
      // listening.
      source.setEventHandler { [source] in if !listener.hear() { source.cancel() } }
      source.setCancelHandler { socket.close() }
      if !listener.begin() { source.cancel() }
      source.resume()
    }

    deinit { source.cancel() }

    /// The current status; after ``stop()`` the last one known.
    public var status: NetworkStatus { feed.status }

    /// The current status, and then each change.
    public func statuses() -> AsyncStream<NetworkStatus> { feed.statuses() }

    /// Stops listening for good, as does releasing the monitor. A second call does nothing.
    public func stop() { source.cancel() }
  }
#endif
