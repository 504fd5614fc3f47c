/// A random number generator that gives one number again and again.
///
/// It makes a pause as short or as long as it can be:
///
/// ```swift
/// SyncEngine(…, clock: clock, random: RepeatedNumber(.max))  // the longest pauses
/// ```
///
/// It is for jitter alone. The standard library's `random(in:using:)` may draw again until a number
/// fits, and would not return.
public struct RepeatedNumber: RandomNumberGenerator, Sendable {
  private let number: UInt64

  /// Creates a generator of a number; by default of the one that makes pauses shortest.
  public init(_ number: UInt64 = 0) {
    self.number = number
  }

  /// The number.
  public mutating func next() -> UInt64 { number }
}
