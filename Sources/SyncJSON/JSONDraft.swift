/// One value while it is being encoded.
///
/// Values nested by `encode(_:)` are complete when that call returns. They append to the same
/// bytes, which move to the inner draft and back. Containers that a type requests may stay open and
/// be filled in any order. Each has bytes of its own, which are inserted when the enclosing value
/// is finished.
final class JSONDraft {
  enum Shape { case object, array, scalar }

  let userInfo: [CodingUserInfoKey: any Sendable]
  let forms: (any JSONForms)?
  let path: JSONPath?
  /// The type of the keys under which the value wrote its members.
  var keys: (any CodingKey.Type)?
  private(set) var count = 0
  private var bytes: [UInt8] = []
  private var start = 0
  private var shape: Shape?
  private var conflict: Shape?
  private var open: [(offset: Int, draft: JSONDraft)] = []

  init(userInfo: [CodingUserInfoKey: any Sendable], forms: (any JSONForms)?, path: JSONPath?) {
    self.userInfo = userInfo
    self.forms = forms
    self.path = path
  }

  /// Begins an object or array, or continues the same one.
  func begin(_ shape: Shape) {
    guard self.shape != shape else { return }
    guard self.shape == nil else { return conflict = shape }
    self.shape = shape
    bytes.append(shape == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
  }

  /// Lets `body` write the value as a scalar.
  ///
  /// If it throws, nothing has been written, and another attempt may follow.
  func scalar(_ body: () throws -> Void) rethrows {
    guard shape == nil else { return conflict = .scalar }
    try orNothing(body)
    shape = .scalar
  }

  /// Lets `body` write a member's value. If it throws, the member has not been written.
  func member(_ key: some CodingKey, _ body: () throws -> Void) rethrows {
    try element {
      JSONString.append(key.stringValue, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      try body()
    }
  }

  /// Lets `body` write an element. If it throws, the element has not been written.
  func element(_ body: () throws -> Void) rethrows {
    try orNothing {
      if count > 0 { bytes.append(UInt8(ascii: ",")) }
      try body()
    }
    count += 1
  }

  private func orNothing(_ body: () throws -> Void) rethrows {
    let (length, opened) = (bytes.count, open.count)
    do {
      try body()
    } catch {
      bytes.removeLast(bytes.count - length)
      open.removeLast(open.count - opened)
      throw error
    }
  }

  func append(_ text: [UInt8]) { bytes.append(contentsOf: text) }

  func writeNull() { bytes.append(contentsOf: "null".utf8) }

  func write(_ bool: Bool) { bytes.append(contentsOf: (bool ? "true" : "false").utf8) }

  func write(_ string: String) { JSONString.append(string, to: &bytes) }

  func write(_ integer: some FixedWidthInteger) { bytes.append(contentsOf: String(integer).utf8) }

  func write<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ number: Number, path: () -> [any CodingKey]
  ) throws {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        number, .init(codingPath: path(), debugDescription: "JSON has no spelling for it."))
    }
    let spelling = number.description
    bytes.append(contentsOf: spelling.hasSuffix(".0") ? spelling.utf8.dropLast(2) : spelling.utf8[...])
  }

  /// Encodes a whole value at this position.
  func write<Value: Encodable>(_ value: Value, path: JSONPath?) throws {
    if try writeFormed(value, path: path) { return }
    let inner = JSONDraft(userInfo: userInfo, forms: forms, path: path)
    swap(&inner.bytes, &bytes)
    inner.start = inner.bytes.count
    defer { swap(&inner.bytes, &bytes) }
    try value.encode(to: JSONPen(draft: inner))
    try inner.close()
    try check(inner.bytes[inner.start...], of: value, keyedBy: inner.keys, path: path)
  }

  /// Reserves this position for a value that may stay open beside this one.
  func insert(_ draft: JSONDraft) { open.append((bytes.count - start, draft)) }

  /// The bytes of the whole value.
  func finished() throws -> [UInt8] {
    try close()
    return bytes
  }

  private func close() throws {
    if let conflict {
      throw EncodingError.invalidValue(
        conflict,
        .init(
          codingPath: JSONPath.keys(path),
          debugDescription: "The type asked for containers of different kinds in one place."))
    }
    // The last one comes first, so that earlier offsets stay valid.
    for (offset, draft) in open.reversed() {
      bytes.insert(contentsOf: try draft.finished(), at: start + offset)
    }
    open = []
    switch shape {
    case .object: bytes.append(UInt8(ascii: "}"))
    case .array: bytes.append(UInt8(ascii: "]"))
    case .scalar: break
    case nil: bytes.append(contentsOf: "{}".utf8)
    }
  }
}
