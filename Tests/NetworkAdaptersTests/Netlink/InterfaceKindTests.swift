import SyncPorts
import Testing

@testable import NetworkAdapters

@Suite("The kind of an interface")
struct InterfaceKindTests {
  @Test(
    arguments: [
      ("eth0", 1, nil, .wired), ("enp5s0", 1, nil, .wired), ("veth12ab", 1, nil, .wired),
      ("lan", 1, "wlan", .wifi), ("wlp3s0", 1, nil, .wifi), ("mon0", 803, nil, .wifi),
      ("usb0", 1, "wwan", .cellular), ("wwan0", 0xFFFE, nil, .cellular), ("rmnet_data0", 519, nil, .cellular),
      ("tun0", 0xFFFE, nil, .other), ("wg0", 0xFFFE, nil, .other), ("br0", 1, "bridge", .wired),
    ] as [(String, UInt16, String?, NetworkStatus.Interface)])
  func followsFromWhatTheSystemSays(
    _ name: String, _ hardware: UInt16, _ type: String?, _ kind: NetworkStatus.Interface
  ) {
    let link = NetworkLink(
      index: 2, name: name, hardware: hardware, isUp: true, isRunning: true, isLoopback: false)
    #expect(InterfaceKind.kind(of: link, deviceType: type) == kind)
  }

  @Test(
    arguments: [
      ("DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n", "wlan"), ("INTERFACE=eth0\nIFINDEX=2\n", nil),
      ("", nil), ("INTERFACE=a\nDEVTYPE=wwan", "wwan"),
    ] as [(String, String?)])
  func isReadFromTheDevice(_ text: String, _ type: String?) {
    #expect(InterfaceKind.deviceType(inUevent: text) == type)
  }

  @Test(arguments: [
    ("eth0", true), ("a.b", true), ("", false), (".", false), ("..", false), ("../../x", false),
    ("sixteen-letters-", false),
  ])
  func isNotLookedForUnderNamesThatLeadElsewhere(_ name: String, _ isPlain: Bool) {
    #expect(InterfaceKind.isPlain(name) == isPlain)
  }
}
