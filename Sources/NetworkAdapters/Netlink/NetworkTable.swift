import SyncPorts

/// The machine's links, addresses and default routes, and the status that follows.
struct NetworkTable {
  /// Classifies a link.
  typealias Classifier = @Sendable (NetworkLink) -> NetworkStatus.Interface

  private let needsDefaultRoute: Bool
  private let classify: Classifier
  private struct Entry {
    var link: NetworkLink
    var kind: NetworkStatus.Interface
  }
  private var links = NetlinkTable<Int32, Entry>()
  /// The addresses, and whether each can be used.
  private var addresses = NetlinkTable<LinkAddress, Bool>()
  private var routes = NetlinkTable<DefaultRoute, Bool>()

  init(needsDefaultRoute: Bool, classify: @escaping Classifier) {
    self.needsDefaultRoute = needsDefaultRoute
    self.classify = classify
  }

  mutating func beginListing(_ subject: NetlinkDialogue.Subject) {
    switch subject {
    case .links: links.beginListing()
    case .addresses: addresses.beginListing()
    case .routes: routes.beginListing()
    }
  }

  mutating func endListing(_ subject: NetlinkDialogue.Subject) {
    switch subject {
    case .links: links.endListing()
    case .addresses: addresses.endListing()
    case .routes: routes.endListing()
    }
  }

  /// Takes a fact into the table.
  ///
  /// - Parameter isListed: Whether the fact is from a requested list.
  /// - Returns: Whether the routes must be listed again. The kernel silently drops the routes of a
  ///   link that goes down and of a removed address. A message about a route does not tell which
  ///   others it replaces.
  mutating func take(_ fact: NetworkFact, isListed: Bool) -> Bool {
    switch fact {
    case .link(let link):
      let old = links.known[link.index]
      // Classifying reads a file, so it does not run on every message.
      let isSame = old?.link.name == link.name && old?.link.hardware == link.hardware
      let kind = old.flatMap { isSame ? $0.kind : nil } ?? classify(link)
      links.set(link.index, Entry(link: link, kind: kind))
      guard let old, old.link.isUp, !link.isUp else { return false }
      routes.remove { $0.link == link.index }
      return true
    case .linkRemoved(let index):
      links.remove(index)
      addresses.remove { $0.link == index }
      routes.remove { $0.link == index }
      return true
    case .address(let address, let isUsable):
      addresses.set(address, isUsable)
      return false
    case .addressRemoved(let address):
      addresses.remove(address)
      return true
    case .defaultRoutes(let new):
      guard isListed else { return true }
      for route in new { routes.set(route, true) }
      return false
    case .defaultRouteRemoved:
      return true
    case .other:
      return false
    }
  }

  /// The status: online if a running link has an address and a default route.
  var status: NetworkStatus {
    let usable = addresses.known.filter { $0.value && isRunning($0.key.link) }.map(\.key)
    let paths = needsDefaultRoute ? routedPaths(usable) : usable.map { Path(metric: 0, link: $0.link) }
    guard let path = paths.min() else { return NetworkStatus(.offline) }
    return NetworkStatus(.online, interface: links.known[path.link]?.kind)
  }

  /// A usable route. The least one is preferred.
  private struct Path: Comparable {
    var metric: UInt32
    var link: Int32
    static func < (a: Path, b: Path) -> Bool { (a.metric, a.link) < (b.metric, b.link) }
  }

  private func routedPaths(_ addresses: [LinkAddress]) -> [Path] {
    routes.known.keys.flatMap { route in
      addresses.filter { $0.family == route.family && (route.link == nil || $0.link == route.link) }
        .map { Path(metric: route.metric, link: $0.link) }
    }
  }

  private func isRunning(_ index: Int32) -> Bool {
    guard let link = links.known[index]?.link else { return false }
    return link.isUp && link.isRunning && !link.isLoopback
  }
}

/// The known items of one kind, with a new list that may be under way.
///
/// Until the new list is complete, the old one counts and is kept up to date. Then the items that
/// the new list lacked are removed.
struct NetlinkTable<Key: Hashable, Value> {
  private(set) var known: [Key: Value] = [:]
  private var listed: [Key: Value]?

  mutating func beginListing() { listed = [:] }

  mutating func endListing() {
    if let listed { known = listed }
    listed = nil
  }

  mutating func set(_ key: Key, _ value: Value) {
    known[key] = value
    listed?[key] = value
  }

  mutating func remove(where condition: (Key) -> Bool) {
    known = known.filter { !condition($0.key) }
    listed = listed?.filter { !condition($0.key) }
  }

  mutating func remove(_ key: Key) {
    known[key] = nil
    listed?[key] = nil
  }
}
