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
