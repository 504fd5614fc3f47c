/// A promise of a port that an adapter did not keep.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was promised and what was found, in a sentence.
  public var description: String

  /// Describes a broken promise.
  public init(_ description: String) {
    self.description = description
  }
}

/// What came of a check that did not fail.
public enum ConformanceOutcome: Hashable, Sendable {
  /// The promise was kept.
  case kept
  /// The adapter declares that it cannot be asked, for a reason; whoever runs the check should show it.
  case skipped(String)

  /// The outcome of a check's body.
  init(of body: () async throws -> Void) async throws {
    do {
      try await body()
      self = .kept
    } catch let obstacle as Inapplicable {
      self = .skipped(obstacle.reason)
    }
  }
}

/// Thrown inside a check that finds nothing to ask about.
struct Inapplicable: Error {
  var reason: String
}

/// Demands that something is so.
func expect(_ isSo: Bool, _ sentence: @autoclosure () -> String) throws(ConformanceFailure) {
  if !isSo { throw ConformanceFailure(sentence()) }
}

/// Demands that two values are the same.
func expect<Value: Equatable>(
  _ found: Value, equals wanted: Value, _ sentence: @autoclosure () -> String
) throws(ConformanceFailure) {
  if found != wanted { throw ConformanceFailure("\(sentence()) Found \(found) instead of \(wanted).") }
}
