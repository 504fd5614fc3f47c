extension String {
  /// Whether two strings have the same UTF-8 bytes.
  ///
  /// Swift compares strings by canonical equivalence, and SQL databases compare bytes. Identifiers
  /// travel between them and must mean the same in both, so they compare by bytes.
  public func isSameUTF8(as other: String) -> Bool {
    if isSameValue(as: other) { return true }
    let isSame = utf8.withContiguousStorageIfAvailable { a in
      other.utf8.withContiguousStorageIfAvailable { b in
        UnsafeRawBufferPointer(a).hasSameBytes(as: UnsafeRawBufferPointer(b))
      }
    }
    // Strings from Objective-C have no contiguous storage.
    return isSame.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
  }

  /// Whether two strings share their storage, or are the same few bytes.
  ///
  /// Most equal identifiers are copies of one string. Nothing but equal strings has equal
  /// representations.
  private func isSameValue(as other: String) -> Bool {
    withUnsafeBytes(of: self) { a in withUnsafeBytes(of: other) { b in a.hasSameBytes(as: b) } }
  }

  /// Whether a string's UTF-8 bytes come before another's.
  public func precedesByUTF8(_ other: String) -> Bool {
    let precedes = utf8.withContiguousStorageIfAvailable { a in
      other.utf8.withContiguousStorageIfAvailable { b in
        UnsafeRawBufferPointer(a).precedes(UnsafeRawBufferPointer(b))
      }
    }
    return precedes.flatMap(\.self) ?? utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension Sequence<String> {
  /// The strings in the order of their UTF-8 bytes, each once.
  public func distinctByUTF8() -> [String] {
    var distinct: [String] = []
    for string in sorted(by: { $0.precedesByUTF8($1) }) {
      if let last = distinct.last, last.isSameUTF8(as: string) { continue }
      distinct.append(string)
    }
    return distinct
  }
}

// Each record compares identifiers several times, so this compares eight bytes at a time.
extension UnsafeRawBufferPointer {
  fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var offset = 0
    while offset + 8 <= count {
      guard word(at: offset) == other.word(at: offset) else { return false }
      offset += 8
    }
    while offset < count {
      guard self[offset] == other[offset] else { return false }
      offset += 1
    }
    return true
  }

  fileprivate func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    let shared = Swift.min(count, other.count)
    var offset = 0
    while offset + 8 <= shared {
      let (a, b) = (word(at: offset), other.word(at: offset))
      if a != b { return a.bigEndian < b.bigEndian }
      offset += 8
    }
    while offset < shared {
      let (a, b) = (self[offset], other[offset])
      if a != b { return a < b }
      offset += 1
    }
    return count < other.count
  }

  private func word(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
