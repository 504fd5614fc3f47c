extension Option where Value == Bool {
  /// An option without a value.
  package static func flag(_ name: String, _ help: String) -> Self {
    Option(name: name, placeholder: nil, help: help) { (texts) throws(UsageError) in !texts.isEmpty }
  }
}

extension Option where Value == String? {
  /// An optional text.
  package static func text(_ name: String, _ placeholder: String, _ help: String) -> Self {
    Option(name: name, placeholder: placeholder, help: help) { (texts) throws(UsageError) in texts.last }
  }
}

extension Option where Value == String {
  /// A text with a default.
  package static func text(
    _ name: String, _ placeholder: String, _ help: String, default fallback: String
  ) -> Self {
    Option(name: name, placeholder: placeholder, help: "\(help) (default \(fallback))") {
      (texts) throws(UsageError) in texts.last ?? fallback
    }
  }

  /// A required text.
  package static func requiredText(_ name: String, _ placeholder: String, _ help: String) -> Self {
    Option(name: name, placeholder: placeholder, help: help, occurrence: .required) {
      (texts) throws(UsageError) in
      guard let text = texts.last else { throw UsageError("--\(name) \(placeholder) is required") }
      return text
    }
  }
}

extension Option where Value == [String] {
  /// A text that may be repeated.
  package static func texts(_ name: String, _ placeholder: String, _ help: String) -> Self {
    Option(
      name: name, placeholder: placeholder, help: "\(help) (may be repeated)", occurrence: .repeatable
    ) { (texts) throws(UsageError) in texts }
  }
}

extension Option where Value == Int? {
  /// An optional whole number.
  package static func number(
    _ name: String, _ placeholder: String, _ help: String, in range: ClosedRange<Int>
  ) -> Self {
    Option(name: name, placeholder: placeholder, help: "\(help) (\(range.inWords))") {
      (texts) throws(UsageError) in
      guard let text = texts.last else { return nil }
      return try range.number(text, for: name)
    }
  }
}

extension Option where Value == Int {
  /// A whole number with a default.
  package static func number(
    _ name: String, _ placeholder: String, _ help: String, in range: ClosedRange<Int>, default fallback: Int
  ) -> Self {
    Option(
      name: name, placeholder: placeholder, help: "\(help) (\(range.inWords), default \(fallback))"
    ) { (texts) throws(UsageError) in
      guard let text = texts.last else { return fallback }
      return try range.number(text, for: name)
    }
  }
}

extension ClosedRange<Int> {
  fileprivate var inWords: String {
    upperBound == .max ? "\(lowerBound) or more" : "\(lowerBound) to \(upperBound)"
  }

  /// The number of a text, if it is in the range.
  fileprivate func number(_ text: String, for name: String) throws(UsageError) -> Int {
    let bounds = upperBound == .max ? "\(lowerBound) or more" : "between \(lowerBound) and \(upperBound)"
    guard let number = Int(text) else {
      // Digits alone may still be too many for an integer. The error then names the range.
      let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
      throw UsageError("--\(name) must be \(isNumber ? "" : "a whole number, ")\(bounds), not \(text)")
    }
    guard contains(number) else { throw UsageError("--\(name) must be \(bounds), not \(number)") }
    return number
  }
}
