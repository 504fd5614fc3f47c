public import SyncModels

/// What somebody wrote, and when: the operand of last-write-wins arithmetic.
///
/// Of two writes the later one wins; of simultaneous ones, which one replica can only make by copying itself, the greater content. So
/// ``merged(with:)`` is commutative, associative and idempotent, and every replica comes to the same end.
public struct StampedValue: Hashable, Sendable {
  /// The payload; `nil` for a deletion.
  public var content: Payload?
  /// When it was written.
  public var stamp: EditStamp

  /// Describes a write.
  public init(_ content: Payload?, stamp: EditStamp) {
    self.content = content
    self.stamp = stamp
  }

  /// The write that wins over the other.
  public func merged(with other: StampedValue) -> StampedValue {
    precedes(other) ? other : self
  }

  private func precedes(_ other: StampedValue) -> Bool {
    #if MUTANTS
      if Mutant.tiesByArrival.isActive, stamp == other.stamp { return false }
    #endif
    if stamp != other.stamp { return stamp < other.stamp }
    guard let theirs = other.content else { return false }
    guard let ours = content else { return true }
    return ours.bytes.lexicographicallyPrecedes(theirs.bytes)
  }
}
