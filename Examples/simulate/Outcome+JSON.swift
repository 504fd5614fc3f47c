import CanonicalSyncToolSupport
import SyncSimulation

extension Outcome {
  /// The world's broken promises, and its hazards.
  var brokenPromises: [(key: String, value: JSON)] {
    let fault: JSON? = recording.fault.map {
      .object([("call", .integer($0.call)), ("kind", .string($0.kind.rawValue))])
    }
    return [
      (
        "violations",
        .array(
          violations.map {
            .object([("promise", .string($0.promise.rawValue)), ("words", .string($0.words))])
          })
      ),
      ("hazards", .array(hazards.map(\.rawValue).sorted().map { .string($0) })), ("fault", fault ?? .null),
    ]
  }

  /// One world.
  var json: JSON {
    .object(
      [("steps", .integer(steps)), ("calls", .integer(calls))] + brokenPromises + [
        (
          "sights",
          .object(
            Sight.allCases.filter { sights[$0] != nil }.map { ($0.rawValue, .integer(sights[$0] ?? 0)) })
        )
      ])
  }
}

extension JSON {
  /// An unsigned number, as its digits if it does not fit an integer.
  static func unsigned(_ number: UInt64) -> JSON {
    Int(exactly: number).map { .integer($0) } ?? .string(String(number))
  }
}
