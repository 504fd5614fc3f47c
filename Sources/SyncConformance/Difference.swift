/// The first member in which two values of one type differ, with both sides.
struct Difference {
  /// The members that lead there, outermost first, as in `.version.sequence`; empty for the values.
  let path: String
  let found: String
  let wanted: String

  init<Value: Equatable>(_ found: Value, _ wanted: Value) {
    var (path, here, there): (String, Any, Any) = ("", found, wanted)
    while let (step, a, b) = Self.firstDifference(Mirror(reflecting: here), Mirror(reflecting: there)) {
      (path, here, there) = (path + step, a, b)
    }
    (self.path, self.found, self.wanted) = (path, Self.shortened(here), Self.shortened(there))
  }

  /// The first pair of children that differ, if the values have the same children otherwise.
  private static func firstDifference(_ a: Mirror, _ b: Mirror) -> (step: String, Any, Any)? {
    guard a.children.count == b.children.count, a.displayStyle == b.displayStyle,
      a.displayStyle != .set, a.displayStyle != .dictionary
    else { return nil }
    for (index, (mine, yours)) in zip(a.children, b.children).enumerated() {
      // Different cases of an enumeration have nothing to compare.
      guard mine.label == yours.label else { return nil }
      if isEqual(mine.value, yours.value) { continue }
      let isUnnamed = a.displayStyle == .collection || a.displayStyle == .optional
      let step =
        isUnnamed ? (a.displayStyle == .optional ? "" : "[\(index)]") : ".\(mine.label ?? "\(index)")"
      return (step, mine.value, yours.value)
    }
    return nil
  }

  private static func isEqual(_ a: Any, _ b: Any) -> Bool {
    guard let a = a as? any Equatable else { return "\(a)" == "\(b)" }
    return isEqual(a, to: b)
  }

  private static func isEqual<Value: Equatable>(_ a: Value, to b: Any) -> Bool { a == b as? Value }

  private static func shortened(_ value: Any) -> String {
    let text = "\(value)"
    return text.count > 300 ? text.prefix(300) + "…" : text
  }

  /// Both sides, as the end of a message.
  var sentence: String {
    path.isEmpty ? "Found \(found) instead of \(wanted)." : "\(path): found \(found) instead of \(wanted)."
  }
}
