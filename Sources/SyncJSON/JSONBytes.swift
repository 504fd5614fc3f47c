/// JSON that is made of its parts, from the values outwards.
///
/// A value's bytes are copied once for each level around it.
extension [UInt8] {
  package static func json(_ text: String) -> [UInt8] { JSONString.quoted(text) }

  package static func json(_ number: some BinaryInteger) -> [UInt8] { Array("\(number)".utf8) }

  package static func json(_ truth: Bool) -> [UInt8] { Array("\(truth)".utf8) }

  package static func json(_ members: KeyValuePairs<String, [UInt8]>) -> [UInt8] { object(members) }

  /// An object of members, in their order.
  package static func object(_ members: some Collection<(key: String, value: [UInt8])>) -> [UInt8] {
    joined(members.map { json($0.key) + [UInt8(ascii: ":")] + $0.value }, "{", "}")
  }

  package static func json(_ elements: [[UInt8]]) -> [UInt8] { joined(elements, "[", "]") }

  private static func joined(_ parts: [[UInt8]], _ start: Unicode.Scalar, _ end: Unicode.Scalar) -> [UInt8] {
    var bytes = [UInt8(ascii: start)]
    bytes.reserveCapacity(parts.reduce(2) { $0 + $1.count + 1 })
    for (place, part) in parts.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += part
    }
    bytes.append(UInt8(ascii: end))
    return bytes
  }
}
