/// An option of a command: its name, value, purpose and parser, declared once.
///
///     static let pageSize = Option.number(
///       "page-size", "N", "records in a page", in: 1...10_000, default: 400)
///     …
///     let size = arguments[pageSize]
package struct Option<Value: Sendable>: DeclaredOption {
  package let name: String
  package let placeholder: String?
  package let help: String
  package var occurrence = Occurrence.optional
  /// Parses the texts given, none if the option was left out.
  let value: @Sendable (_ texts: [String]) throws(UsageError) -> Value

  package func check(_ texts: [String]) throws(UsageError) {
    _ = try value(texts)
  }
}

/// The parts of an option that do not depend on its value's type.
package protocol DeclaredOption: Sendable {
  /// The name without its dashes.
  var name: String { get }
  /// The placeholder of the value in the help; nil for a flag, which takes none.
  var placeholder: String? { get }
  /// One sentence, followed by the default and the range.
  var help: String { get }
  /// The number of times that the option may be given.
  var occurrence: Occurrence { get }
  /// Checks the texts given, and throws for an invalid one.
  func check(_ texts: [String]) throws(UsageError)
}

/// The number of times that an option may be given.
package enum Occurrence: Sendable {
  case optional, required, repeatable
}

extension DeclaredOption {
  /// The option with its placeholder: `--page-size N`.
  var spelling: String {
    guard let placeholder else { return "--\(name)" }
    return "--\(name) \(placeholder)"
  }
}
