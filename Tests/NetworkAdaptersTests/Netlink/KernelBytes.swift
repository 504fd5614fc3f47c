@testable import NetworkAdapters

/// Writes messages in the kernel's format.
struct KernelBytes {
  private(set) var bytes: [UInt8] = []

  mutating func add<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number) { bytes += $0 }
  }

  mutating func pad() {
    while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
  }

  mutating func attribute(_ type: UInt16, _ value: [UInt8]) {
    add(UInt16(4 + value.count))
    add(type)
    bytes += value
    pad()
  }

  static func of<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    var bytes = KernelBytes()
    bytes.add(number)
    return bytes.bytes
  }

  /// A whole message.
  static func message(
    _ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, _ body: [UInt8] = []
  ) -> [UInt8] {
    var message = KernelBytes()
    message.add(UInt32(16 + body.count))
    message.add(type)
    message.add(flags)
    message.add(sequence)
    message.add(UInt32(0))
    message.bytes += body
    message.pad()
    return message.bytes
  }

  // MARK: Bodies

  static func link(
    _ index: Int32, _ name: String = "eth0", up: Bool = true, running: Bool = true, loopback: Bool = false,
    hardware: UInt16 = 1, family: UInt8 = 0
  ) -> [UInt8] {
    var body = KernelBytes()
    body.add(family)
    body.add(UInt8(0))
    body.add(hardware)
    body.add(index)
    body.add(UInt32(up ? 0x1 : 0) | (running ? 0x40 : 0) | (loopback ? 0x8 : 0))
    body.add(UInt32.max)
    body.attribute(3, Array(name.utf8) + [0])
    return body.bytes
  }

  static func address(
    _ link: Int32, _ address: [UInt8] = [10, 0, 0, 2], scope: UInt8 = 0, flags: UInt32? = nil
  ) -> [UInt8] {
    var body = KernelBytes()
    body.add(address.count == 4 ? RouteNumbers.ipv4 : RouteNumbers.ipv6)
    body.add(UInt8(24))
    body.add(UInt8(0x80))
    body.add(scope)
    body.add(link)
    body.attribute(1, address)
    body.attribute(2, address)
    if let flags { body.attribute(8, of(flags)) }
    return body.bytes
  }

  static func route(
    family: UInt8 = RouteNumbers.ipv4, length: UInt8 = 0, type: UInt8 = 1, over links: [Int32] = [2],
    metric: UInt32? = nil
  ) -> [UInt8] {
    var body = KernelBytes()
    for byte: UInt8 in [family, length, 0, 0, 254, 3, 0, type] { body.add(byte) }
    body.add(UInt32(0))
    body.attribute(15, of(UInt32(254)))
    if let metric { body.attribute(6, of(metric)) }
    if links.count == 1 { body.attribute(4, of(links[0])) }
    if links.count > 1 {
      var hops = KernelBytes()
      for link in links {
        hops.add(UInt16(16))
        hops.add(UInt16(0))
        hops.add(link)
        hops.attribute(5, [10, 0, 0, 1])
      }
      body.attribute(9, hops.bytes)
    }
    return body.bytes
  }
}
