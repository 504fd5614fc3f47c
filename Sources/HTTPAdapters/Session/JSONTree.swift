import SyncJSON
import SyncModels

/// A parsed JSON value, in which two spellings of one value are equal.
indirect enum JSONTree: Equatable {
  case object([[UInt8]: JSONTree])
  case array([JSONTree])
  case string([UInt8])
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  case null

  /// Parses a value, down to the default depth.
  init(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
    try self.init(JSONValueSlice(checking: bytes))
  }

  private init(_ value: JSONValueSlice) throws(JSONError) {
    switch value.kind {
    case .object:
      var members: [[UInt8]: JSONTree] = [:]
      try JSONScanner.members(of: value.bytes) { member throws(JSONError) in
        members[Array(member.key.utf8)] = try JSONTree(member.value)
      }
      self = .object(members)
    case .array:
      var elements: [JSONTree] = []
      try JSONScanner.elements(of: value.bytes) { element throws(JSONError) in
        elements.append(try JSONTree(element))
      }
      self = .array(elements)
    case .string: self = .string(Array((value.string() ?? "").utf8))
    case .number: self = value.integer().map { .integer($0) } ?? .number(value.double() ?? 0)
    case .true: self = .boolean(true)
    case .false: self = .boolean(false)
    case .null: self = .null
    }
  }

  /// A number with a fraction or an exponent. Its value may still be whole.
  private static func number(_ value: Double) -> JSONTree {
    Int64(exactly: value).map { .integer($0) } ?? .double(value)
  }

  /// Removes members from an object.
  mutating func remove(_ keys: [[UInt8]]) {
    guard case .object(var members) = self else { return }
    for key in keys { members[key] = nil }
    self = .object(members)
  }

  /// Whether every member of another value is here, with the same value.
  ///
  /// A null member may be missing. Lists are equal whole.
  func covers(_ other: JSONTree) -> Bool {
    guard case .object(let mine) = self, case .object(let theirs) = other else { return self == other }
    return theirs.allSatisfy { key, value in mine[key]?.covers(value) ?? (value == .null) }
  }
}
