/// The constants of the kernel's route messages, a stable interface to programs.
enum RouteNumbers {
  // Messages.
  static let error: UInt16 = 2
  static let done: UInt16 = 3
  static let newLink: UInt16 = 16
  static let removedLink: UInt16 = 17
  static let getLink: UInt16 = 18
  static let newAddress: UInt16 = 20
  static let removedAddress: UInt16 = 21
  static let getAddress: UInt16 = 22
  static let newRoute: UInt16 = 24
  static let removedRoute: UInt16 = 25
  static let getRoute: UInt16 = 26

  // Flags of messages.
  static let request: UInt16 = 0x1
  static let multipart: UInt16 = 0x2
  static let interrupted: UInt16 = 0x10
  static let dump: UInt16 = 0x300

  // Multicast groups.
  static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

  // Families.
  static let ipv4: UInt8 = 2
  static let ipv6: UInt8 = 10

  // Links.
  static let linkName: UInt16 = 3
  static let isUp: UInt32 = 0x1
  static let isLoopback: UInt32 = 0x8
  static let isRunning: UInt32 = 0x40
  static let ethernet: UInt16 = 1
  static let wirelessTypes: ClosedRange<UInt16> = 801...803

  // Addresses.
  static let address: UInt16 = 1
  static let localAddress: UInt16 = 2
  static let addressFlags: UInt16 = 8
  static let isOptimistic: UInt32 = 0x04
  static let isDuplicate: UInt32 = 0x08
  static let isTentative: UInt32 = 0x40
  static let linkScope: UInt8 = 253

  // Routes.
  static let outgoingLink: UInt16 = 4
  static let metric: UInt16 = 6
  static let multipath: UInt16 = 9
  static let unicast: UInt8 = 1
}
