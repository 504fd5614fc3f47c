/// What became of one world.
public struct Outcome: Sendable {
  /// The promises that were broken, in the order in which it showed; none in a good world.
  public var violations: [Violation]
  /// What was seen to happen, and how often.
  public var sights: [Sight: Int]
  /// What could go wrong in this world.
  public var hazards: Set<Hazard>
  /// A hash over everything that happened: the same for the same seed.
  public var hash: UInt64
  /// How many pieces of work were done.
  public var steps: Int
  /// How many calls of ports were made before the faults ended.
  public var calls: Int
  /// What was chosen, to let the same world happen again.
  public var recording: Recording
  /// A line for everything that happened, where that was asked for.
  public var timeline: [String]
}
