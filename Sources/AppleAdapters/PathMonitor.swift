#if canImport(Network)
  import Dispatch
  import Network
  public import SyncPorts
  import Synchronization

  /// The network as the system reports it, by `NWPathMonitor`.
  ///
  /// A path that needs a connection first, such as a VPN on demand, counts as unknown: requests are
  /// made.
  public final class PathMonitor: ConnectivityMonitor {
    private let feed = NetworkStatusFeed()
    private let monitor: Mutex<NWPathMonitor>

    /// Begins to follow the system's reports.
    public init() {
      let feed = feed
      let monitor = NWPathMonitor()
      monitor.pathUpdateHandler = { feed.report(NetworkStatus($0)) }
      monitor.start(queue: DispatchQueue(label: "CanonicalSync.PathMonitor"))
      self.monitor = Mutex(monitor)
    }

    deinit { monitor.withLock { $0.cancel() } }

    /// The status of the latest report.
    public var status: NetworkStatus { feed.status }

    /// Streams the current status and then each change.
    public func statuses() -> AsyncStream<NetworkStatus> { feed.statuses() }
  }

  extension NetworkStatus {
    fileprivate init(_ path: NWPath) {
      let connectivity: Connectivity =
        switch path.status {
        case .satisfied: .online
        case .unsatisfied: .offline
        default: .unknown
        }
      let kinds: [(NWInterface.InterfaceType, Interface)] = [
        (.wifi, .wifi), (.cellular, .cellular), (.wiredEthernet, .wired),
      ]
      let interface = kinds.first { path.usesInterfaceType($0.0) }?.1 ?? .other
      self.init(
        connectivity, interface: connectivity == .online ? interface : nil, isConstrained: path.isConstrained)
    }
  }
#endif
