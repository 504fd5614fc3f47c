/// A place in a JSON value, as RFC 6901 writes it.
///
/// `/meta/next` is the member `next` of the member `meta`, and `/0` the first element of a list.
/// The empty text is the whole value. In a name, `~1` stands for a slash and `~0` for a tilde.
public struct JSONPointer: Hashable, Sendable {
  /// The pointer as it was written.
  public let text: String
  private let tokens: [[UInt8]]

  /// Parses a pointer; `nil` for any other text.
  ///
  /// A pointer is empty or begins with a slash. A tilde comes before `0` or `1` alone.
  public init?(_ text: String) {
    self.text = text
    guard !text.isEmpty else {
      tokens = []
      return
    }
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    var tokens: [[UInt8]] = []
    for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let token = Self.unescaped(part) else { return nil }
      tokens.append(token)
    }
    self.tokens = tokens
  }

  private static func unescaped(_ part: Substring.UTF8View.SubSequence) -> [UInt8]? {
    var token: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "~") else {
        token.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return token
  }

  /// The name of the member, for a pointer to a member of the whole value.
  public var member: String? {
    tokens.count == 1 ? String(decoding: tokens[0], as: UTF8.self) : nil
  }

  /// The names on the way to the place, the outermost first.
  package var names: [String] { tokens.map { String(decoding: $0, as: UTF8.self) } }

  /// The value at this place; `nil` if the pointer leads to nothing.
  ///
  /// The last copy of a repeated member counts.
  public func value(in whole: JSONValueSlice) -> JSONValueSlice? {
    Self.values(at: [self], in: whole)[0]
  }

  /// The values at several places, found in one pass over each object or list.
  ///
  /// - Returns: One value for each pointer, in order; `nil` for one that leads to nothing.
  /// - Complexity: O(*n*) in the bytes of the value for each level of the pointers.
  public static func values(at pointers: [JSONPointer], in whole: JSONValueSlice) -> [JSONValueSlice?] {
    var found = [JSONValueSlice?](repeating: nil, count: pointers.count)
    find(pointers, Array(pointers.indices), depth: 0, in: whole, &found)
    return found
  }

  private static func find(
    _ pointers: [JSONPointer], _ wanted: [Int], depth: Int, in value: JSONValueSlice,
    _ found: inout [JSONValueSlice?]
  ) {
    var deeper: [Int] = []
    for index in wanted {
      if pointers[index].tokens.count == depth { found[index] = value } else { deeper.append(index) }
    }
    guard !deeper.isEmpty else { return }
    func enter(_ inner: JSONValueSlice, where leads: ([UInt8]) -> Bool) {
      let here = deeper.filter { leads(pointers[$0].tokens[depth]) }
      guard !here.isEmpty else { return }
      for index in here { found[index] = nil }
      find(pointers, here, depth: depth + 1, in: inner, &found)
    }
    // The value has been checked, so the passes over it do not fail.
    switch value.kind {
    case .object:
      try? JSONScanner.members(of: value.bytes, depthLimit: .max) { member throws(JSONError) in
        enter(member.value) { member.hasKey($0) }
      }
    case .array:
      var position = 0
      try? JSONScanner.elements(of: value.bytes, depthLimit: .max) { element throws(JSONError) in
        let name = Array(String(position).utf8)
        enter(element) { $0 == name }
        position += 1
      }
    default: break
    }
  }

  /// Whether two pointers have the same text, byte for byte.
  public static func == (a: JSONPointer, b: JSONPointer) -> Bool { a.tokens == b.tokens }

  /// Hashes the names on the way.
  public func hash(into hasher: inout Hasher) { hasher.combine(tokens) }
}

extension JSONPointer: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Creates a pointer from a literal.
  ///
  /// - Precondition: The literal is a pointer.
  public init(stringLiteral text: String) {
    guard let pointer = JSONPointer(text) else { preconditionFailure("not a JSON pointer: \(text)") }
    self = pointer
  }

  /// The pointer as it was written.
  public var description: String { text }
}
