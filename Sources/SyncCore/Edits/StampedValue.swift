public import SyncModels

/// A written value and its stamp: the operand of last-write-wins arithmetic.
///
/// Of two writes the later one wins. Of simultaneous writes the greater content wins; one replica
/// can only make these by copying itself. So ``merged(with:)`` is commutative, associative and
/// idempotent, and every replica gets the same result.
public struct StampedValue: Hashable, Sendable {
  /// The payload; `nil` for a deletion.
  public var content: Payload?
  /// When it was written.
  public var stamp: EditStamp

  /// Creates a stamped value.
  public init(_ content: Payload?, stamp: EditStamp) {
    self.content = content
    self.stamp = stamp
  }

  /// Returns the write that wins.
  public func merged(with other: StampedValue) -> StampedValue {
    precedes(other) ? other : self
  }

  private func precedes(_ other: StampedValue) -> Bool {
    if stamp != other.stamp { return stamp < other.stamp }
    guard let theirs = other.content else { return false }
    guard let ours = content else { return true }
    return ours.bytes.lexicographicallyPrecedes(theirs.bytes)
  }
}
