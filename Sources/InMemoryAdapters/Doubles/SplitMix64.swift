import SyncModels

/// A small random number generator whose whole state is its seed.
///
/// The same seed gives the same numbers on every machine (G. L. Steele, D. Lea, C. H. Flood, "Fast
/// Splittable Pseudorandom Number Generators", OOPSLA 2014). It is for tests, simulators and
/// generated data, and is not cryptographically secure.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator from a seed.
  public init(seed: UInt64) {
    state = seed
  }

  /// Creates a generator whose seed is the digest of a name.
  public init(named name: String) {
    // Swift's own hashes differ from run to run.
    self.init(seed: ContentDigest.of(name))
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from zero to one below a bound; zero for a bound below 1.
  ///
  /// The standard library's algorithm may change with its version, and would change all derived
  /// data.
  public mutating func number(below bound: Int) -> Int {
    bound > 0 ? Int(next() % UInt64(bound)) : 0
  }

  /// Returns true with a probability of one in this many times.
  public mutating func once(in times: Int) -> Bool {
    number(below: times) == 0
  }

  /// The elements in random order.
  public mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var elements = elements
    for last in elements.indices.dropFirst().reversed() {
      elements.swapAt(last, number(below: last + 1))
    }
    return elements
  }
}
