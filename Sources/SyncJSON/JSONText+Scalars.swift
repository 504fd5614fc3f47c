extension JSONText {
  /// Reads strings, numbers and literals. `path` is evaluated only after a failure.
  func string(at node: Int, path: () -> [any CodingKey]) throws -> String {
    guard kind(of: node) == .string else { throw mismatch(String.self, at: node, path: path()) }
    return text(of: node)
  }

  func bool(at node: Int, path: () -> [any CodingKey]) throws -> Bool {
    switch kind(of: node) {
    case .true: return true
    case .false: return false
    default: throw mismatch(Bool.self, at: node, path: path())
    }
  }

  @inline(__always)
  func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, at node: Int, path: () -> [any CodingKey]
  ) throws -> Integer {
    let token = nodes[node].token
    guard token.kind == .number else { throw mismatch(type, at: node, path: path()) }
    guard let value = JSONNumber.integer(type, from: bytes.span.extracting(token.start..<token.end)) else {
      throw unfit(type, path: path())
    }
    return value
  }

  func double(at node: Int, path: () -> [any CodingKey]) throws -> Double {
    let token = nodes[node].token
    guard token.kind == .number else { throw mismatch(Double.self, at: node, path: path()) }
    let value = JSONNumber.double(from: bytes.span.extracting(token.start..<token.end))
    guard value.isFinite else { throw unfit(Double.self, path: path()) }
    return value
  }

  func float(at node: Int, path: () -> [any CodingKey]) throws -> Float {
    guard kind(of: node) == .number else { throw mismatch(Float.self, at: node, path: path()) }
    let value = JSONNumber.float(from: content(of: node).span)
    guard value.isFinite else { throw unfit(Float.self, path: path()) }
    return value
  }

  /// The error for a value of another kind. It names kinds, never the value.
  @inline(never)
  func mismatch(_ type: any Any.Type, at node: Int, path: [any CodingKey]) -> DecodingError {
    let found = kind(of: node)
    let context = DecodingError.Context(
      codingPath: path, debugDescription: "Expected \(type), found \(found).")
    return found == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  @inline(never)
  private func unfit(_ type: any Any.Type, path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(.init(codingPath: path, debugDescription: "The number does not fit \(type)."))
  }
}
