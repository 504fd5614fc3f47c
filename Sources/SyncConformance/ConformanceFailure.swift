/// A promise of a port that an adapter broke.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The promise and the finding, in a sentence.
  public var description: String

  /// Creates a failure with its description.
  public init(_ description: String) {
    self.description = description
  }
}

/// The result of a check that did not fail.
public enum ConformanceOutcome: Hashable, Sendable {
  /// The promise was kept.
  case kept
  /// The adapter declares that the check does not apply, with a reason to show.
  case skipped(String)

  /// Runs a check's body, and returns the outcome.
  init(of body: () async throws -> Void) async throws {
    do {
      try await body()
      self = .kept
    } catch let obstacle as Inapplicable {
      self = .skipped(obstacle.reason)
    }
  }
}

/// Thrown by a check that does not apply to the adapter.
struct Inapplicable: Error {
  var reason: String
}

/// Checks that a condition holds.
func expect(_ isSo: Bool, _ sentence: @autoclosure () -> String) throws(ConformanceFailure) {
  if !isSo { throw ConformanceFailure(sentence()) }
}

/// Checks that two values are equal.
func expect<Value: Equatable>(
  _ found: Value, equals wanted: Value, _ sentence: @autoclosure () -> String
) throws(ConformanceFailure) {
  if found != wanted { throw ConformanceFailure("\(sentence()) Found \(found) instead of \(wanted).") }
}
