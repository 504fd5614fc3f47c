/// A member's name, prepared for searching many payloads.
package struct MemberMention: Sendable {
  fileprivate let name: [UInt8]
  /// The position of a capital letter in the name. Few texts contain many capitals.
  fileprivate let place: Int

  /// Prepares the search for a name.
  package init(_ name: FieldName) {
    self.name = Array(name.rawValue.utf8)
    place = self.name.firstIndex { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? 0
  }

  /// The member that the library stamps edits in.
  package static let editStamp = MemberMention(.editStamp)
}

extension Payload {
  /// Whether a name occurs anywhere in the bytes, spelled without escapes.
  ///
  /// This alone tells most payloads that lack a member, at sixteen bytes a step.
  package func mentions(_ member: MemberMention) -> Bool {
    bytes.withUnsafeBytes { text in
      let last = text.count - (member.name.count - member.place)
      guard !member.name.isEmpty, member.place <= last else { return false }
      let mark = member.name[member.place]
      let marks = SIMD16<UInt8>(repeating: mark)
      var offset = member.place
      while offset <= last {
        if offset &+ 16 <= text.count {
          let sixteen = text.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
          if !any(sixteen .== marks) {
            offset &+= 16
            continue
          }
        }
        let end = min(offset &+ 16, last &+ 1)
        while offset < end {
          if text[offset] == mark, member.isThere(text, at: offset &- member.place) { return true }
          offset &+= 1
        }
      }
      return false
    }
  }
}

extension MemberMention {
  fileprivate func isThere(_ text: UnsafeRawBufferPointer, at start: Int) -> Bool {
    for place in name.indices where text[start + place] != name[place] { return false }
    return true
  }
}
