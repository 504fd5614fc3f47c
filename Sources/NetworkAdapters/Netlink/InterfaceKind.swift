import SyncPorts

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
