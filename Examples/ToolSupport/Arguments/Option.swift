/// An option of a command, declared once: its name, what it takes, what it is for, and how its text becomes a value.
///
///     static let pageSize = Option.number("page-size", "N", "Records in a page.", in: 1...10_000, default: 400)
///     …
///     let size = arguments[pageSize]
package struct Option<Value: Sendable>: DeclaredOption {
  package let name: String
  package let placeholder: String?
  package let help: String
  package var occurrence = Occurrence.optional
  /// Makes the value of the texts given, of which there are none if the option was left out.
  let value: @Sendable (_ texts: [String]) throws(UsageError) -> Value

  package func check(_ texts: [String]) throws(UsageError) {
    _ = try value(texts)
  }
}

/// What a command knows of an option of any type.
package protocol DeclaredOption: Sendable {
  /// The name without its dashes.
  var name: String { get }
  /// What stands for the value in the help; nil for a flag, which takes none.
  var placeholder: String? { get }
  /// One sentence, with the default and the range after it.
  var help: String { get }
  /// How often it may be given.
  var occurrence: Occurrence { get }
  /// Reads the texts given, to see what is wrong with them.
  func check(_ texts: [String]) throws(UsageError)
}

/// How often an option may be given.
package enum Occurrence: Sendable {
  case optional, required, repeatable
}

extension DeclaredOption {
  /// The option as it is typed: `--page-size N`.
  var spelling: String {
    guard let placeholder else { return "--\(name)" }
    return "--\(name) \(placeholder)"
  }
}
