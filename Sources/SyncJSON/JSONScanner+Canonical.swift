extension JSONScanner {
  /// The canonical spelling of a JSON value, for comparing values.
  ///
  /// White space is left out. Members are sorted by their keys' UTF-8 bytes, and the last copy of a
  /// repeated one counts. Strings have no needless escapes. A number is written as its significant
  /// digits and a power of ten. Numbers are exact, whatever their length.
  ///
  /// - Parameter bytes: One JSON value. Other bytes give the result of ``compacted(_:)``.
  /// - Complexity: O(*n* *d*) in the bytes and in the levels of nesting.
  public static func canonical(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard let value = try? JSONValueSlice(checking: bytes) else { return compacted(bytes) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    append(value, to: &result)
    return result
  }

  private static func append(_ value: JSONValueSlice, to result: inout [UInt8]) {
    switch value.kind {
    case .null, .true, .false: result.append(contentsOf: value.bytes)
    case .number: JSONNumber.appendCanonical(value.bytes, to: &result)
    case .string: JSONString.append(value.string() ?? "", to: &result)
    case .array:
      result.append(UInt8(ascii: "["))
      // The contents of a checked value need no depth limit of their own, and cannot fail.
      try? elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
        append(element, to: &result)
        result.append(UInt8(ascii: ","))
      }
      result.append(UInt8(ascii: "]"))
    case .object:
      result.append(UInt8(ascii: "{"))
      var members: [[UInt8]: JSONValueSlice] = [:]
      try? self.members(of: value.bytes, depthLimit: .max) { member throws(JSONError) in
        members[Array(member.key.utf8)] = member.value
      }
      for (key, value) in members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        JSONString.append(String(decoding: key, as: UTF8.self), to: &result)
        result.append(UInt8(ascii: ":"))
        append(value, to: &result)
        result.append(UInt8(ascii: ","))
      }
      result.append(UInt8(ascii: "}"))
    }
  }
}

extension JSONNumber {
  /// Appends a checked number as its significant digits and a power of ten.
  ///
  /// `1.50` becomes `15e-1`, and every zero becomes `0`.
  static func appendCanonical(_ text: ArraySlice<UInt8>, to result: inout [UInt8]) {
    var digits: [UInt8] = []
    var (scale, isFraction) = (0, false)
    var rest = text
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest = rest.dropFirst() }
    while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if byte == UInt8(ascii: ".") {
        isFraction = true
        continue
      }
      if isFraction { scale -= 1 }
      if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
    }
    guard !digits.isEmpty else { return result.append(UInt8(ascii: "0")) }
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      scale += 1
    }
    let power = rest.isEmpty ? 0 : Int(String(decoding: rest.dropFirst(), as: UTF8.self))
    // An exponent beyond `Int` is compared as written.
    guard let power, case let (sum, overflow) = scale.addingReportingOverflow(power), !overflow else {
      return result.append(contentsOf: text)
    }
    if isNegative { result.append(UInt8(ascii: "-")) }
    result += digits
    if sum != 0 { result += Array("e\(sum)".utf8) }
  }
}
