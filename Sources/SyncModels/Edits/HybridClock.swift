/// Stamps a replica's edits: each after the one before and after the copy it was made on, whatever the wall clock does.
///
/// The clock is kept in the store, in the transaction that writes the edit, so restarts and clocks that run backwards
/// change nothing (Kulkarni et al., *Logical Physical Clocks*, 2014).
///
/// What is further ahead than a bound allows was stamped by a clock that was wrong, another replica's or this one's some time ago. An edit of such a record
/// comes after it all the same; the clock itself does not follow, so other edits are stamped as they are made.
public struct HybridClock: Hashable, Sendable, Codable {
  /// The last stamp that the clock followed.
  public private(set) var last: EditStamp
  /// The latest of the stamps that the clock gave and does not follow.
  private var ahead: Timestamp?
  /// The highest counter given so far; `nil` for that of the last stamp.
  private var counter: UInt32?

  /// A clock that has stamped nothing yet.
  public init(replica: String) {
    last = EditStamp(physical: Timestamp(microseconds: .min), replica: replica)
  }

  /// Stamps an edit made now: after all that is known of the record, and unlike any other of the replica.
  ///
  /// - Parameters:
  ///   - now: The wall clock's time.
  ///   - seen: The stamp of the copy that the edit was made on, or of the record's edit before; the edit comes after it.
  ///   - bound: How far ahead of the wall clock stamps are followed; without one, however far they are.
  public mutating func stamp(
    at now: Timestamp, after seen: EditStamp? = nil, bound: Duration? = nil
  ) -> EditStamp {
    let limit = bound.map { now + $0 } ?? Timestamp(microseconds: .max)
    let highest = max(counter ?? 0, last.counter)
    if last.physical > limit {
      ahead = max(last.physical, ahead ?? last.physical)
      last.physical = Timestamp(microseconds: .min)
    }
    var next = EditStamp(physical: now, counter: 0, replica: last.replica)
    next = next.following(last)
    if let seen { next = next.following(seen) }
    if let ahead, next.physical <= ahead {
      // No counter that was ever given comes again before all these are over.
      next = next.following(EditStamp(physical: next.physical, counter: highest))
      if next.counter == 0 { next = next.following(EditStamp(physical: ahead, counter: .max)) }
    } else if next.physical <= limit {
      ahead = nil
    }
    counter = max(highest, next.counter)
    if next.physical <= limit {
      last = next
    } else {
      ahead = max(next.physical, ahead ?? next.physical)
    }
    return next
  }
}

extension EditStamp {
  /// The stamp itself where it is later than another, otherwise the replica's next after that: by the counter, and by a microsecond once that is used up.
  package func following(_ other: EditStamp) -> EditStamp {
    if physical > other.physical || physical == other.physical && counter > other.counter { return self }
    return other.counter < .max
      ? EditStamp(physical: other.physical, counter: other.counter + 1, replica: replica)
      : EditStamp(physical: other.physical + .microseconds(1), counter: 0, replica: replica)
  }
}
