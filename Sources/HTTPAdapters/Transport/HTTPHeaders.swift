/// The headers of a request or of an answer, found by name in any case.
///
/// Descriptions hold names only: values may be secrets.
public struct HTTPHeaders: Hashable, Sendable {
  private var values: [String: String] = [:]

  /// Creates an empty list.
  public init() {}

  /// The value of a header. Setting a value replaces the previous one.
  public subscript(name: String) -> String? {
    get { values[name.lowercased()] }
    set { values[name.lowercased()] = newValue }
  }

  /// Whether a text can be a header's name.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
      }
  }

  /// Every name, in lower case, with its value, sorted by name.
  public var fields: [(name: String, value: String)] {
    values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates headers from names and values. The last value of a repeated name counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { self[name] = value }
  }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
  /// The names, without their values.
  public var description: String { "\(values.keys.sorted())" }

  /// The names, without their values.
  public var customMirror: Mirror { Mirror(self, children: ["names": values.keys.sorted()]) }
}
