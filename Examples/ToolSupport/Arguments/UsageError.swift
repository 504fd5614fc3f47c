/// What is wrong with a command line, in words for whoever typed it.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line without a full stop, naming the option and what it would take.
  package let description: String

  /// An error with its line.
  package init(_ description: String) {
    self.description = description
  }
}
