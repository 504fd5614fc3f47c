/// The outcome of one world.
public struct Outcome: Sendable {
  /// The broken promises in order of detection; none in a correct world.
  public var violations: [Violation]
  /// The observed events, with their numbers.
  public var sights: [Sight: Int]
  /// How the merge policy resolved conflicts, with their numbers.
  public var decisions: [PolicyDecision: Int] = [:]
  /// The hazards of this world.
  public var hazards: Set<Hazard>
  /// A hash over all events: the same for the same seed.
  public var hash: UInt64
  /// The number of jobs that ran.
  public var steps: Int
  /// The number of port calls before the faults ended.
  public var calls: Int
  /// The choices, to replay the world.
  public var recording: Recording
  /// A line for each event, if requested.
  public var timeline: [String]
  /// The events themselves, if requested.
  package var events: [WorldEvent] = []
}
