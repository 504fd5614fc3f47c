import Synchronization

/// A random number generator that tasks share.
package final class RandomBits: Sendable {
  private let generator: Mutex<any RandomNumberGenerator & Sendable>

  package init(_ generator: any RandomNumberGenerator & Sendable) {
    self.generator = Mutex(generator)
  }

  /// The next 64 random bits.
  package func next() -> UInt64 { generator.withLock { $0.next() } }

  /// A random fraction from zero to below one.
  package func fraction() -> Double { next().fraction }
}

extension UInt64 {
  /// The first 53 bits as a fraction from zero to below one.
  package var fraction: Double { Double(self >> 11) * 0x1p-53 }
}
