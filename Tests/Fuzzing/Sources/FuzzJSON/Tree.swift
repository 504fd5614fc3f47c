import SyncJSON

/// A whole JSON value in memory.
enum Tree: Equatable, Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([Tree])
  case object([Member])

  /// Whole doubles equal integers, since they are written alike. Strings compare by their bytes.
  static func == (a: Tree, b: Tree) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)): Int64(exactly: b) == a
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  struct Member: Equatable {
    var key: String
    var value: Tree

    static func == (a: Member, b: Member) -> Bool {
      a.key.utf8.elementsEqual(b.key.utf8) && a.value == b.value
    }
  }

  /// Reads a value by visits.
  init(visiting value: JSONValueSlice) throws(JSONError) {
    switch value.kind {
    case .null: self = .null
    case .true, .false: self = .bool(value.kind == .true)
    case .number:
      if let integer = value.integer() {
        self = .integer(integer)
      } else {
        let double = value.double()
        precondition(double == Double(String(decoding: value.bytes, as: UTF8.self)), "correctly rounded")
        self = .double(double ?? .nan)
      }
    case .string: self = .string(value.string() ?? "")
    case .array:
      var elements: [Tree] = []
      try JSONScanner.elements(of: value.bytes) { element throws(JSONError) in
        elements.append(try Tree(visiting: element))
      }
      self = .array(elements)
    case .object:
      var members: [Member] = []
      try JSONScanner.members(of: value.bytes) { member throws(JSONError) in
        precondition(member.hasKey(Array(member.key.utf8)), "a member has its own key")
        members.append(Member(key: member.key, value: try Tree(visiting: member.value)))
      }
      self = .object(members)
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let members = try? decoder.container(keyedBy: Key.self) {
      self = .object(
        try members.allKeys.map {
          Member(key: $0.stringValue, value: try members.decode(Tree.self, forKey: $0))
        })
    } else if var elements = try? decoder.unkeyedContainer() {
      var list: [Tree] = []
      while !elements.isAtEnd { list.append(try elements.decode(Tree.self)) }
      self = .array(list)
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let bool = try? value.decode(Bool.self) {
        self = .bool(bool)
      } else if let string = try? value.decode(String.self) {
        self = .string(string)
      } else if let integer = try? value.decode(Int64.self) {
        self = .integer(integer)
      } else {
        self = .double(try value.decode(Double.self))
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: Key.self)
      for member in members { try container.encode(member.value, forKey: Key(stringValue: member.key)) }
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .null, .bool, .integer, .double, .string:
      var value = encoder.singleValueContainer()
      switch self {
      case .bool(let bool): try value.encode(bool)
      case .integer(let integer): try value.encode(integer)
      case .double(let double): try value.encode(double)
      case .string(let string): try value.encode(string)
      default: try value.encodeNil()
      }
    }
  }

  /// The same value, with the last copy of each repeated member.
  ///
  /// It is in the place of the first copy.
  var lastOfRepeatedKeys: Tree {
    switch self {
    case .array(let elements): return .array(elements.map(\.lastOfRepeatedKeys))
    case .object(let members):
      var kept: [Member] = []
      for member in members {
        let value = member.value.lastOfRepeatedKeys
        if let index = kept.firstIndex(where: { $0.key.utf8.elementsEqual(member.key.utf8) }) {
          kept[index].value = value
        } else {
          kept.append(Member(key: member.key, value: value))
        }
      }
      return .object(kept)
    default: return self
    }
  }

  var hasInfinity: Bool {
    switch self {
    case .double(let double): double.isInfinite
    case .array(let elements): elements.contains(where: \.hasInfinity)
    case .object(let members): members.contains(where: \.value.hasInfinity)
    default: false
    }
  }
}
