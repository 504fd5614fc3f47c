/// The known status of the network at one time.
public struct NetworkStatus: Hashable, Sendable, Codable {
  /// Whether the network is there.
  public var connectivity: Connectivity
  /// The kind of interface; `nil` if it is unknown or there is none.
  public var interface: Interface?
  /// Whether the user asks apps to use little data on this network.
  public var isConstrained: Bool

  /// Creates a status.
  public init(_ connectivity: Connectivity, interface: Interface? = nil, isConstrained: Bool = false) {
    self.connectivity = connectivity
    self.interface = interface
    self.isConstrained = isConstrained
  }

  /// A kind of network interface.
  public enum Interface: String, Hashable, Sendable, Codable, CaseIterable {
    /// A wireless local network.
    case wifi
    /// A mobile network, which may cost by volume.
    case cellular
    /// A cable.
    case wired
    /// Anything else, such as a tunnel.
    case other
  }
}

/// The known connectivity of the network.
public enum Connectivity: String, Hashable, Sendable, Codable {
  /// The network is known to be there.
  case online
  /// The network is known to be away: requests would fail, so none are made.
  case offline
  /// The network's state is unknown; requests are made, and retried.
  case unknown
}
