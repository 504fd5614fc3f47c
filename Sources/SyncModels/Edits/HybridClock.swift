/// Stamps a replica's edits: each after the one before and after the copy it was made on, whatever the wall clock does.
///
/// The last stamp is kept in the store, in the transaction that writes the edit, so restarts and clocks that run backwards
/// change nothing (Kulkarni et al., *Logical Physical Clocks*, 2014).
public struct HybridClock: Hashable, Sendable, Codable {
  /// The last stamp given.
  public private(set) var last: EditStamp

  /// A clock that has stamped nothing yet.
  public init(replica: String) {
    last = EditStamp(physical: Timestamp(microseconds: .min), replica: replica)
  }

  /// Stamps an edit made now.
  ///
  /// - Parameter seen: The stamp of the copy that the edit was made on; the edit comes after it.
  public mutating func stamp(at now: Timestamp, after seen: EditStamp? = nil) -> EditStamp {
    let floor = seen.map { max($0.physical, last.physical) } ?? last.physical
    var next = EditStamp(physical: max(now, floor), counter: 0, replica: last.replica)
    if next.physical == last.physical { next.counter = last.counter &+ 1 }
    if let seen, next.physical == seen.physical, next.counter <= seen.counter {
      next.counter = seen.counter &+ 1
    }
    // A counter that is used up borrows the next microsecond.
    if next.counter == 0, next.physical == last.physical || next.physical == seen?.physical {
      next.physical = next.physical + .microseconds(1)
    }
    last = next
    return next
  }
}
