/// So many of something, as a person says it: `1 change`, `2 changes`.
///
/// ```swift
/// "\(Counted(edits, "edit waits", "edits wait")) in the outbox."
/// ```
package struct Counted: Hashable, Sendable, CustomStringConvertible {
  /// How many there are.
  package let count: Int
  /// What follows the number.
  package let words: String

  /// Puts a number and what goes by it together.
  ///
  /// - Parameters:
  ///   - one: What follows a one: the noun, and whatever of the sentence changes with it.
  ///   - others: What follows every other number; `one` with an *s* where nothing is said.
  package init(_ count: Int, _ one: String, _ others: String? = nil) {
    self.count = count
    words = count == 1 ? one : others ?? one + "s"
  }

  package var description: String { "\(count) \(words)" }
}
