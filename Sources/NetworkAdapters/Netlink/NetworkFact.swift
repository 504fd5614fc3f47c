import SyncPorts

/// The content of one kernel message.
enum NetworkFact: Equatable {
  case link(NetworkLink)
  case linkRemoved(Int32)
  case address(LinkAddress, isUsable: Bool)
  case addressRemoved(LinkAddress)
  /// Default routes, one for each link that they use.
  case defaultRoutes([DefaultRoute])
  case defaultRouteRemoved
  /// Anything irrelevant here.
  case other
}

/// A network interface.
struct NetworkLink: Hashable {
  var index: Int32
  var name: String
  /// The kernel's number for the kind of hardware.
  var hardware: UInt16
  var isUp: Bool
  /// Whether the link can send: the cable is plugged in, or the access point is connected.
  var isRunning: Bool
  var isLoopback: Bool
}

/// The family of an address or a route.
enum AddressFamily: Hashable {
  case ipv4, ipv6

  init?(_ number: UInt8?) {
    switch number {
    case RouteNumbers.ipv4: self = .ipv4
    case RouteNumbers.ipv6: self = .ipv6
    default: return nil
    }
  }
}

/// An address of a link.
struct LinkAddress: Hashable {
  var link: Int32
  var family: AddressFamily
  var prefix: UInt8
  /// The local address, and the peer's if there is one.
  var bytes: [[UInt8]]
}

/// A default route.
struct DefaultRoute: Hashable {
  var family: AddressFamily
  /// The link that the route uses; `nil` if the kernel does not say.
  var link: Int32?
  /// The priority: the kernel prefers the lowest metric.
  var metric: UInt32
}

extension NetworkFact {
  /// Interprets a message. An incomplete or unknown one is ``other``.
  init(_ message: NetlinkMessage) {
    let body = message.body
    let fact: NetworkFact? =
      switch message.type {
      case RouteNumbers.newLink, RouteNumbers.removedLink:
        Self.link(body, isRemoved: message.type == RouteNumbers.removedLink)
      case RouteNumbers.newAddress, RouteNumbers.removedAddress:
        Self.address(body, isRemoved: message.type == RouteNumbers.removedAddress)
      case RouteNumbers.newRoute: Self.routes(body).map { .defaultRoutes($0) }
      case RouteNumbers.removedRoute: Self.routes(body).map { _ in .defaultRouteRemoved }
      default: nil
      }
    self = fact ?? .other
  }

  private static func link(_ body: ByteReader, isRemoved: Bool) -> NetworkFact? {
    // In the bridges' family, "removed" only means that a link has left its bridge.
    guard body.number(at: 0, as: UInt8.self) == 0, let hardware = body.number(at: 2, as: UInt16.self),
      let index = body.number(at: 4, as: Int32.self), let flags = body.number(at: 8, as: UInt32.self),
      let rest = body.rest(from: 16)
    else { return nil }
    if isRemoved { return .linkRemoved(index) }
    let name = rest.attributes.first { $0.type == RouteNumbers.linkName }?.body.array ?? []
    return .link(
      NetworkLink(
        index: index, name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self), hardware: hardware,
        isUp: flags & RouteNumbers.isUp != 0, isRunning: flags & RouteNumbers.isRunning != 0,
        isLoopback: flags & RouteNumbers.isLoopback != 0))
  }

  private static func address(_ body: ByteReader, isRemoved: Bool) -> NetworkFact? {
    guard let family = AddressFamily(body.number(at: 0)), let prefix = body.number(at: 1, as: UInt8.self),
      let shortFlags = body.number(at: 2, as: UInt8.self), let scope = body.number(at: 3, as: UInt8.self),
      let link = body.number(at: 4, as: Int32.self), let rest = body.rest(from: 8)
    else { return nil }
    let attributes = rest.attributes
    func bytes(_ type: UInt16) -> [UInt8] { attributes.first { $0.type == type }?.body.array ?? [] }
    let address = LinkAddress(
      link: link, family: family, prefix: prefix,
      bytes: [bytes(RouteNumbers.localAddress), bytes(RouteNumbers.address)])
    if isRemoved { return .addressRemoved(address) }
    let longFlags: UInt32? = attributes.first { $0.type == RouteNumbers.addressFlags }?.body.number(at: 0)
    let flags = longFlags ?? UInt32(shortFlags)
    // An address under duplicate detection is not used yet, unless the kernel is set to be
    // optimistic.
    let isTried =
      flags & RouteNumbers.isTentative == 0 || flags & RouteNumbers.isOptimistic != 0
    return .address(
      address, isUsable: isTried && flags & RouteNumbers.isDuplicate == 0 && scope < RouteNumbers.linkScope)
  }

  private static func routes(_ body: ByteReader) -> [DefaultRoute]? {
    guard let family = AddressFamily(body.number(at: 0)), body.number(at: 1, as: UInt8.self) == 0,
      body.number(at: 7, as: UInt8.self) == RouteNumbers.unicast, let rest = body.rest(from: 12)
    else { return nil }
    var metric: UInt32 = 0
    var links: [Int32] = []
    for (type, value) in rest.attributes {
      switch type {
      case RouteNumbers.metric: metric = value.number(at: 0) ?? 0
      case RouteNumbers.outgoingLink: if let link: Int32 = value.number(at: 0) { links.append(link) }
      case RouteNumbers.multipath: links += nextHops(value)
      default: break
      }
    }
    if links.isEmpty { return [DefaultRoute(family: family, link: nil, metric: metric)] }
    return links.map { DefaultRoute(family: family, link: $0, metric: metric) }
  }

  /// The links of a multipath route.
  private static func nextHops(_ body: ByteReader) -> [Int32] {
    var links: [Int32] = []
    var rest = body
    while let length = rest.number(at: 0, as: UInt16.self).map(Int.init), length >= 8, length <= rest.count,
      let link = rest.number(at: 4, as: Int32.self)
    {
      links.append(link)
      guard let next = rest.rest(from: NetlinkMessage.aligned(length)) else { break }
      rest = next
    }
    return links
  }
}

/// Classifies a link by the system's description of it.
enum InterfaceKind {
  /// Decides by the device's type if known, then by its hardware, then by its name.
  ///
  /// - Parameter deviceType: The system's word for it, as in `wlan`; `nil` for most devices.
  static func kind(of link: NetworkLink, deviceType: String?) -> NetworkStatus.Interface {
    switch deviceType {
    case "wlan": return .wifi
    case "wwan": return .cellular
    default: break
    }
    if RouteNumbers.wirelessTypes.contains(link.hardware) { return .wifi }
    // The names that systems give: wlp3s0, wlan0, wwan0, rmnet0.
    if link.name.hasPrefix("wl") { return .wifi }
    if link.name.hasPrefix("ww") || link.name.hasPrefix("rmnet") { return .cellular }
    return link.hardware == RouteNumbers.ethernet ? .wired : .other
  }

  /// The device type in a link's `uevent` file.
  static func deviceType(inUevent text: String) -> String? {
    for line in text.split(separator: "\n") where line.hasPrefix("DEVTYPE=") {
      return String(line.dropFirst("DEVTYPE=".count))
    }
    return nil
  }

  /// Whether a name is safe in a path. The kernel allows no other, but this does not rely on that.
  static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count < 16 && name != "." && name != ".." && !name.contains("/")
  }
}
