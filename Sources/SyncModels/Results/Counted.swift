/// A number with a noun in singular or plural: `1 change`, `2 changes`.
///
/// ```swift
/// "\(Counted(edits, "edit waits", "edits wait")) in the outbox."
/// ```
package struct Counted: Hashable, Sendable, CustomStringConvertible {
  /// The number.
  package let count: Int
  /// The words after the number.
  package let words: String

  /// Combines a number with the words that agree with it.
  ///
  /// - Parameters:
  ///   - one: The words after 1: the noun, and any words that change with it.
  ///   - others: The words after any other number; by default `one` with an *s*.
  package init(_ count: Int, _ one: String, _ others: String? = nil) {
    self.count = count
    words = count == 1 ? one : others ?? one + "s"
  }

  package var description: String { "\(count) \(words)" }
}
