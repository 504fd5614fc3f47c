package import SyncModels

/// A hybrid logical clock that stamps a replica's edits in increasing order.
///
/// Each stamp is later than the replica's previous stamp, and later than the copy that the edit was
/// made on, whatever the wall clock does. The store keeps the clock and writes it in the edit's
/// transaction, so restarts and clocks that run backwards do no harm (Kulkarni et al., *Logical
/// Physical Clocks*, 2014).
///
/// A stamp further ahead than a bound comes from a wrong clock: another replica's, or this
/// replica's some time ago. An edit of such a record still gets a later stamp. The clock itself
/// does not follow, so edits of other records get the current time.
package struct HybridClock: Hashable, Sendable {
  /// The last stamp that the clock followed.
  package private(set) var last: EditStamp
  /// The latest stamp that the clock issued without following it.
  private(set) var ahead: Timestamp?
  /// The highest counter issued so far; `nil` for the counter of the last stamp.
  private(set) var counter: UInt32?

  /// Creates a clock that has issued no stamp.
  package init(replica: String) {
    last = EditStamp(physical: Timestamp(microseconds: .min), replica: replica)
  }

  /// Continues a clock.
  init(last: EditStamp, ahead: Timestamp?, counter: UInt32?) {
    (self.last, self.ahead, self.counter) = (last, ahead, counter)
  }

  /// Issues the stamp of an edit that is made now.
  ///
  /// The stamp is later than every known state of the record, and unlike any other of the replica.
  ///
  /// - Parameters:
  ///   - now: The wall clock's time.
  ///   - seen: The stamp of the copy that the edit was made on, or of the record's previous edit.
  ///     The new stamp is later.
  ///   - bound: How far ahead of the wall clock the clock follows a stamp; `nil` for any distance.
  package mutating func stamp(
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
      // Up to the time `ahead`, each stamp takes a counter above every earlier one.
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

extension HybridClock {
  /// Returns the clock of another replica, which goes on from the same stamps.
  package func renamed(_ replica: String) -> HybridClock {
    var clock = self
    clock.last = EditStamp(physical: last.physical, counter: last.counter, replica: replica)
    return clock
  }

  /// Issues the stamp of a seed, which is earlier than every edit's.
  package mutating func seedStamp() -> EditStamp {
    let highest = max(counter ?? 0, last.counter)
    let next = highest < .max ? highest + 1 : highest
    counter = next
    return EditStamp(physical: EditStamp.seedTime, counter: next, replica: last.replica)
  }
}
