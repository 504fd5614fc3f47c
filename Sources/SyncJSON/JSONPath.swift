/// One step of a coding path, and the steps before it.
///
/// Steps are linked backwards, so one step deeper costs the same at any depth. The path as an array
/// is made when an error or a type requests it.
final class JSONPath {
  private let before: JSONPath?
  private let key: any CodingKey

  init(_ key: any CodingKey, after before: JSONPath?) {
    self.key = key
    self.before = before
  }

  /// The keys from the outermost inwards.
  static func keys(_ last: JSONPath?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var step = last
    while let current = step {
      keys.append(current.key)
      step = current.before
    }
    return keys.reversed()
  }
}

/// A key that no type declares: an index into an array, or `super`.
struct PayloadKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  static let `super` = PayloadKey(stringValue: "super")

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) { self.init(index: intValue) }
}
