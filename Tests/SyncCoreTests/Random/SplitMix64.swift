/// A small generator whose whole state is its seed (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// True once in so many times.
  mutating func once(in times: Int) -> Bool {
    Int.random(in: 1...times, using: &self) == 1
  }
}
