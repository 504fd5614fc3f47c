/// A digest of an object's members by their values, independent of spelling.
///
/// It is the same for any order of members, white space, escapes and spelling of numbers (`1.50`,
/// `15e-1`), at every level. It is the same in every process and version of the library, because it
/// travels with records. An object that repeats a member has a digest of its own.
///
/// The members' digests are added up, so no member needs to be sorted or kept.
package struct MemberDigest: JSONEvents {
  private struct Level {
    var isObject: Bool
    var digest: UInt64
    /// The digest of the key whose value comes next; `nil` for an ignored key.
    var key: UInt64?
  }

  private let bytes: ArraySlice<UInt8>
  /// The names of the outermost members to ignore.
  private let ignored: [[UInt8]]
  /// The outermost member to find, and its value.
  private let wanted: [UInt8]
  package private(set) var found: JSONToken?
  package private(set) var value: UInt64 = 0
  package private(set) var isEmpty = true
  private var levels: [Level] = []
  private var isFound = false

  /// Digests the members of one object.
  ///
  /// - Parameters:
  ///   - wanted: A member to find in the same pass. The digest leaves it out.
  ///   - ignored: Members that the digest leaves out.
  /// - Throws: ``JSONError`` for bytes that are not one JSON object.
  package init(of bytes: ArraySlice<UInt8>, finding wanted: String, ignoring ignored: [String])
    throws(JSONError)
  {
    self.bytes = bytes
    self.wanted = Array(wanted.utf8)
    self.ignored = ignored.map { Array($0.utf8) }
    levels.reserveCapacity(8)
    let token = try JSONScanner.wholeValue(
      in: bytes.span, depthLimit: JSONScanner.defaultDepthLimit, events: &self)
    guard token.kind == .object else { throw JSONError(.notAnObject, at: token.start) }
  }

  package mutating func key(_ token: JSONToken, of text: Span<UInt8>) {
    if levels.count == 1 {
      isEmpty = false
      isFound = isKey(wanted, token, of: text)
      if isFound || ignored.contains(where: { isKey($0, token, of: text) }) {
        levels[0].key = nil
        return
      }
    }
    levels[levels.count - 1].key = Self.digest(of: token, text)
  }

  package mutating func scalar(_ token: JSONToken) {
    if levels.count == 1, isFound { found = token }
    add(Self.mixed(digest(ofScalar: token) &+ token.kind.mark))
  }

  package mutating func open(_ kind: JSONValueSlice.Kind, at offset: Int) {
    levels.append(Level(isObject: kind == .object, digest: 0, key: nil))
  }

  package mutating func close(at offset: Int) {
    guard let level = levels.popLast() else { return }
    let kind: JSONValueSlice.Kind = level.isObject ? .object : .array
    let digest = Self.mixed(level.digest &+ kind.mark)
    if levels.isEmpty { value = digest } else { add(digest) }
  }

  private mutating func add(_ digest: UInt64) {
    let last = levels.count - 1
    guard last >= 0 else { return }
    if !levels[last].isObject {
      levels[last].digest = Self.mixed(levels[last].digest ^ digest)
    } else if let key = levels[last].key {
      levels[last].digest &+= Self.mixed(key ^ (digest &<< 1 | digest &>> 63))
    }
  }

  private func isKey(_ name: [UInt8], _ token: JSONToken, of text: Span<UInt8>) -> Bool {
    if token.hasEscapes { return JSONString.unescaped(content(of: token)) == name }
    guard token.end - token.start - 2 == name.count else { return false }
    for place in name.indices where text[token.start + 1 + place] != name[place] { return false }
    return true
  }

  private func content(of token: JSONToken) -> ArraySlice<UInt8> {
    bytes[bytes.startIndex + token.start + 1..<bytes.startIndex + token.end - 1]
  }

  // MARK: Scalars

  private func digest(ofScalar token: JSONToken) -> UInt64 {
    switch token.kind {
    case .string: Self.digest(of: token, bytes.span)
    case .number: Self.number(token, bytes.span)
    default: 0
    }
  }

  private static func digest(of string: JSONToken, _ text: Span<UInt8>) -> UInt64 {
    guard string.hasEscapes else { return digest(of: text.extracting(string.start + 1..<string.end - 1)) }
    var raw: [UInt8] = []
    for offset in string.start + 1..<string.end - 1 { raw.append(text[offset]) }
    return digest(of: JSONString.unescaped(raw[...]).span)
  }

  /// Digests eight bytes at a time.
  private static func digest(of text: Span<UInt8>) -> UInt64 {
    var digest = UInt64(truncatingIfNeeded: text.count)
    var offset = 0
    while offset <= text.count &- 8 {
      digest = mixed(digest ^ JSONScanner.word(at: offset, of: text))
      offset &+= 8
    }
    var rest: UInt64 = 0
    while offset < text.count {
      rest = rest &<< 8 | UInt64(text[offset])
      offset &+= 1
    }
    return mixed(digest ^ rest)
  }

  /// Digests a number by its value: its significant digits and a power of ten.
  private static func number(_ token: JSONToken, _ text: Span<UInt8>) -> UInt64 {
    var digits: UInt64 = 0
    var (power, zeros, written) = (0, 0, 0)
    var (isZero, isNegative, isFraction) = (true, false, false)
    for offset in token.start..<token.end {
      let byte = text[offset]
      if JSONScanner.isDigit(byte) {
        if isFraction { power -= 1 }
        if byte == UInt8(ascii: "0") {
          zeros += 1
          continue
        }
        if !isZero { for _ in 0..<zeros { digits = next(digits, 0) } }
        digits = next(digits, byte &- UInt8(ascii: "0"))
        (isZero, zeros) = (false, 0)
      } else if byte == UInt8(ascii: ".") {
        isFraction = true
      } else if byte == UInt8(ascii: "-") {
        isNegative = true
      } else {
        written = exponent(offset + 1..<token.end, text)
        break
      }
    }
    if isZero { return 0 }
    power += zeros + written
    return mixed(digits ^ UInt64(truncatingIfNeeded: power) &<< 40) ^ (isNegative ? 1 : 0)
  }

  private static func next(_ digits: UInt64, _ digit: UInt8) -> UInt64 {
    (digits ^ UInt64(digit &+ 1)) &* 0x100_0000_01b3
  }

  /// The exponent of a number, clamped at a thousand million, where it no longer matters.
  private static func exponent(_ range: Range<Int>, _ text: Span<UInt8>) -> Int {
    var (power, isNegative) = (0, false)
    for offset in range {
      let byte = text[offset]
      if byte == UInt8(ascii: "-") { isNegative = true }
      guard JSONScanner.isDigit(byte) else { continue }
      power = min(power * 10 + Int(byte &- UInt8(ascii: "0")), 1_000_000_000)
    }
    return isNegative ? -power : power
  }

  /// Spreads every bit over all others (the finalizer of Sebastiano Vigna's SplitMix64).
  @inline(__always)
  private static func mixed(_ value: UInt64) -> UInt64 {
    var value = value &+ 0x9e37_79b9_7f4a_7c15
    value = (value ^ (value &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value &>> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value &>> 31)
  }
}

extension JSONValueSlice.Kind {
  /// Distinguishes kinds in a digest.
  fileprivate var mark: UInt64 {
    switch self {
    case .null: 0x11
    case .true: 0x22
    case .false: 0x33
    case .number: 0x44_0000
    case .string: 0x55_0000_0000
    case .array: 0x66_0000_0000_0000
    case .object: 0x77_0000_0000_0000
    }
  }
}
