/// A type that most records consist of, read without a decoder of its own.
private protocol CommonScalar {
  init(at node: Int, of text: JSONText, path: () -> [any CodingKey]) throws
}

extension String: CommonScalar {
  fileprivate init(at node: Int, of text: JSONText, path: () -> [any CodingKey]) throws {
    self = try text.string(at: node, path: path)
  }
}

extension Int: CommonScalar {
  fileprivate init(at node: Int, of text: JSONText, path: () -> [any CodingKey]) throws {
    self = try text.integer(Int.self, at: node, path: path)
  }
}

extension Double: CommonScalar {
  fileprivate init(at node: Int, of text: JSONText, path: () -> [any CodingKey]) throws {
    self = try text.double(at: node, path: path)
  }
}

extension JSONText {
  /// Decodes a value of any type, at a key after a path.
  ///
  /// A decoder costs several allocations, and an array of numbers would pay them for each element.
  /// So the common types do without one.
  func value<Value: Decodable>(
    _ type: Value.Type, at node: Int, key: some CodingKey, after path: JSONPath?
  ) throws -> Value {
    switch formPlace(of: type) {
    case .everywhere(let reader):
      return try read(type, by: reader, at: node) { JSONPath.keys(path) + [key] }
    case .ownDecoding where kind(of: node) == .object:
      return try Value(from: JSONCursor(text: self, node: node, path: JSONPath(key, after: path)))
    case .ownDecoding: return try value(type, mayBeFormed: false, at: node, key: key, after: path)
    case .byMember, nil: return try value(type, mayBeFormed: true, at: node, key: key, after: path)
    }
  }

  /// Separate, because an optional of a generic type is searched for when a function with one begins.
  @inline(never)
  private func value<Value: Decodable>(
    _ type: Value.Type, mayBeFormed: Bool, at node: Int, key: some CodingKey, after path: JSONPath?
  ) throws -> Value {
    if let value = try common(type, at: node, path: { JSONPath.keys(path) + [key] }) { return value }
    if mayBeFormed, let value = try formed(type, at: node, path: { JSONPath.keys(path) + [key] }) {
      return value
    }
    return try Value(from: JSONCursor(text: self, node: node, path: JSONPath(key, after: path)))
  }

  private func common<Value>(
    _ type: Value.Type, at node: Int, path: () -> [any CodingKey]
  ) throws -> Value? {
    if type == String.self { return try String(at: node, of: self, path: path) as? Value }
    if type == Int.self { return try Int(at: node, of: self, path: path) as? Value }
    if type == Double.self { return try Double(at: node, of: self, path: path) as? Value }
    if type == [String].self { return try elements(of: String.self, at: node, path: path) as? Value }
    if type == [Int].self { return try elements(of: Int.self, at: node, path: path) as? Value }
    if type == [Double].self { return try elements(of: Double.self, at: node, path: path) as? Value }
    return nil
  }

  private func elements<Element: CommonScalar>(
    of type: Element.Type, at array: Int, path: () -> [any CodingKey]
  ) throws -> [Element] {
    guard kind(of: array) == .array else { throw mismatch([Element].self, at: array, path: path()) }
    var elements: [Element] = []
    var node = array + 1
    while node < nodes[array].next {
      let index = elements.count
      elements.append(try Element(at: node, of: self) { path() + [PayloadKey(index: index)] })
      node = nodes[node].next
    }
    return elements
  }
}
