/// The headers of a request or of an answer, found by name whatever its case.
///
/// Descriptions hold names only: values may be secrets.
public struct HTTPHeaders: Hashable, Sendable {
  private var values: [String: String] = [:]

  /// No headers.
  public init() {}

  /// The value of a header; setting one replaces it.
  public subscript(name: String) -> String? {
    get { values[name.lowercased()] }
    set { values[name.lowercased()] = newValue }
  }

  /// Every name, in lower case, with its value, in the order of the names.
  public var fields: [(name: String, value: String)] {
    values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Headers by name; of one that is repeated, the last value counts.
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
