/// One message of a datagram from the kernel, uninterpreted.
struct NetlinkMessage {
  var type: UInt16
  var flags: UInt16
  var sequence: UInt32
  var body: ByteReader

  /// The messages of a datagram.
  struct Batch {
    var messages: [NetlinkMessage] = []
    /// Whether the datagram held only whole messages.
    var isIntact = true
  }

  /// The length of a message's header.
  static let headerLength = 16

  /// Splits a datagram into messages. A message of an impossible length ends the split.
  static func read(_ datagram: [UInt8]) -> Batch {
    var batch = Batch()
    var rest = ByteReader(datagram[...])
    while rest.count > 0 {
      guard let length = rest.number(at: 0, as: UInt32.self).map(Int.init), length >= headerLength,
        let type = rest.number(at: 4, as: UInt16.self), let flags = rest.number(at: 6, as: UInt16.self),
        let sequence = rest.number(at: 8, as: UInt32.self),
        let body = rest.part(from: headerLength, count: length - headerLength)
      else {
        batch.isIntact = false
        return batch
      }
      batch.messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, body: body))
      // Padding is only between messages; the last one's may be missing.
      guard let next = rest.rest(from: aligned(length)) else { return batch }
      rest = next
    }
    return batch
  }

  /// The next multiple of four.
  static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension ByteReader {
  /// The attributes in the bytes, up to the first incomplete one.
  var attributes: [(type: UInt16, body: ByteReader)] {
    var found: [(type: UInt16, body: ByteReader)] = []
    var rest = self
    while let length = rest.number(at: 0, as: UInt16.self).map(Int.init), length >= 4,
      let type = rest.number(at: 2, as: UInt16.self), let body = rest.part(from: 4, count: length - 4)
    {
      // The two highest bits are flags.
      found.append((type & 0x3FFF, body))
      guard let next = rest.rest(from: NetlinkMessage.aligned(length)) else { break }
      rest = next
    }
    return found
  }
}

/// Reads numbers from the kernel's messages.
///
/// A missing number reads as `nil`. No bytes make it trap.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  var count: Int { bytes.count }

  /// The bytes, copied.
  var array: [UInt8] { Array(bytes) }

  /// A number in the machine's byte order, which is the kernel's.
  func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
    guard let part = part(from: offset, count: Number.bitWidth / 8) else { return nil }
    var number: Number = 0
    for byte in part.bytes.reversed() { number = number << 8 | Number(truncatingIfNeeded: byte) }
    #if _endian(little)
      return number
    #else
      return number.byteSwapped
    #endif
  }

  /// A range of the bytes; `nil` if they are not all there.
  func part(from offset: Int, count: Int) -> ByteReader? {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
    let start = bytes.startIndex + offset
    return ByteReader(bytes[start..<start + count])
  }

  /// The bytes from an offset to the end; `nil` for an offset past the end.
  func rest(from offset: Int) -> ByteReader? {
    part(from: offset, count: bytes.count - offset)
  }
}

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
