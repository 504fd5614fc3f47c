/// A mistake in a command line, described for the person who typed it.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line without a full stop that names the option and its valid values.
  package let description: String

  /// Creates an error.
  package init(_ description: String) {
    self.description = description
  }
}
