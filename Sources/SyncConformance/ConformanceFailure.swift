import SyncModels

/// A promise of a port that an adapter broke.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The promise and the finding, in a sentence without control characters.
  public var description: String

  /// Creates a failure with its description.
  ///
  /// Control characters are escaped, because a tool that prints the message may end it at a NUL.
  public init(_ description: String) {
    self.description = String(
      String.UnicodeScalarView(
        description.unicodeScalars.flatMap { scalar in
          scalar.properties.generalCategory == .control && scalar != "\n"
            ? Array(scalar.escaped(asASCII: true).unicodeScalars) : [scalar]
        }))
  }
}

extension ConformanceFailure {
  /// A promise, with the member in which two values differ and both sides of it.
  package static func message<Value: Equatable>(_ promise: String, _ found: Value, _ wanted: Value) -> String
  {
    "\(promise) \(Difference(found, wanted).sentence)"
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
  if found != wanted {
    throw ConformanceFailure(ConformanceFailure.message(sentence(), found, wanted))
  }
}

/// Checks that an operation fails with a code.
func expect(
  _ code: SyncError.Code, _ sentence: @autoclosure () -> String,
  from operation: () async throws(SyncError) -> Void
) async throws(ConformanceFailure) {
  do {
    try await operation()
  } catch {
    return try expect(error.code, equals: code, sentence())
  }
  throw ConformanceFailure("\(sentence()) No error was thrown; \(code) was due.")
}
