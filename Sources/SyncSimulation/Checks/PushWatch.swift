import InMemoryAdapters
import SyncModels
import Synchronization

/// Checks the changes that are sent to the remote.
///
/// One edit on one base has one idempotency key, one content and one effect.
final class PushWatch: Sendable {
  private struct Sending: Hashable {
    var id: RecordID
    var stamp: EditStamp
    var base: Version?
    var isOnDeletion: Bool

    init(_ change: OutgoingChange) {
      (id, stamp, base) = (change.id, change.stamp, change.base.version)
      isOnDeletion = change.base.record == nil
    }
  }
  /// An edit that the remote postponed until a time, by the world's own clock.
  private struct Postponement {
    var stamp: EditStamp
    var until: Duration
  }
  private struct Postponed {
    var edits: [RecordID: Postponement] = [:]
    /// Answers that may not have reached the store, by the sync's lease.
    var answers: [Int64: [RecordID: Postponement]] = [:]

    /// Requires later syncs to respect an answer.
    mutating func settle(_ id: RecordID, under fence: Int64) {
      if let answer = answers[fence]?.removeValue(forKey: id) { edits[id] = answer }
    }
  }
  private let postponed = Mutex(Postponed())
  /// Edits that the remote has refused for a value that another record has.
  private let taken = Mutex<Set<RecordID>>([])
  /// The stamps of edits that other persons have made.
  private let foreign = Mutex<[RecordID: Set<EditStamp>]>([:])
  private let names = Mutex<[Sending: OutgoingChange]>([:])

  /// Notes the changes of a push, and returns the violations in it.
  func sending(_ changes: [OutgoingChange]) -> [String] {
    names.withLock { names in
      changes.compactMap { change in
        let sending = Sending(change)
        guard let earlier = names[sending] else {
          names[sending] = change
          return nil
        }
        if earlier.key != change.key {
          return "sends the edit of \(change.id) under another idempotency key than before"
        }
        return earlier.content == change.content
          ? nil : "sends the edit of \(change.id) again, and with other content"
      }
    }
  }

  /// Notes that the remote has not taken a change.
  ///
  /// Before it is sent again, a record that it refers to may get another key.
  func isNotTaken(_ change: OutgoingChange) {
    names.withLock { $0[Sending(change)] = nil }
  }

  /// Notes edits that no later remote may get, because another person has made them.
  func forbid(_ entries: some Sequence<OutboxEntry>) {
    foreign.withLock { foreign in
      for entry in entries { foreign[entry.id, default: []].insert(entry.edit.stamp) }
    }
  }

  /// The edits of another person among the changes of a push.
  func foreign(_ changes: [OutgoingChange]) -> [RecordID] {
    foreign.withLock { foreign in changes.filter { foreign[$0.id]?.contains($0.stamp) == true }.map(\.id) }
  }

  /// Notes that the remote has refused a value that another record has.
  func refusedValue(of id: RecordID) { taken.withLock { _ = $0.insert(id) } }

  /// Whether an accepted edit was refused before for a value that another record had.
  func wasFreed(_ change: OutgoingChange) -> Bool {
    let wasTaken = taken.withLock { $0.remove(change.id) != nil }
    return wasTaken && change.content.payload.flatMap { Badge(of: change.id, in: $0) } != nil
  }

  /// Forgets the sent changes, because another remote follows.
  func begin() {
    names.withLock { $0 = [:] }
    postponed.withLock { $0 = Postponed() }
  }

  /// Notes that the remote postponed an edit for the sync under a lease.
  ///
  /// The pause does not count yet. If the sync stops while its batch is on the wire, or the store
  /// fails before the answer is settled, the batch stays prepared, and the next sync repeats it.
  func postpone(_ change: OutgoingChange, for pause: Duration, at now: Duration, under fence: Int64) {
    postponed.withLock {
      $0.answers[fence, default: [:]][change.id] = Postponement(stamp: change.stamp, until: now + pause)
    }
  }

  /// Notes that the sync under a lease has settled edits.
  func settled(_ ids: Set<RecordID>, under fence: Int64) {
    postponed.withLock { postponed in
      for id in ids { postponed.settle(id, under: fence) }
    }
  }

  /// Notes that the sync under a lease calls the remote: by then it has settled each answer.
  func wentOn(under fence: Int64) {
    postponed.withLock { postponed in
      for id in postponed.answers[fence, default: [:]].keys { postponed.settle(id, under: fence) }
    }
  }

  /// The edits that are sent again before their pause ends.
  ///
  /// A store keeps the end in whole microseconds, and an app's clock rounds down to them.
  func early(_ changes: [OutgoingChange], at now: Duration) -> [String] {
    postponed.withLock { postponed in
      changes.compactMap { change in
        guard let earlier = postponed.edits[change.id], earlier.stamp == change.stamp,
          now + .microseconds(1) < earlier.until
        else { return nil }
        return "sends the edit of \(change.id) again \(earlier.until - now) before it may"
      }
    }
  }

  /// The second effects of edits on top of their own.
  ///
  /// Do not call it for a wiped remote, whose versions start over.
  func repeatedEffects(in remote: InMemoryRemote) -> [Difference] {
    var last: [RecordID: InMemoryRemote.PushEffect] = [:]
    var found: [Difference] = []
    for effect in remote.pushEffects {
      if let earlier = last[effect.id], earlier.stamp == effect.stamp, let base = effect.base,
        (base.sequence, base.modifiedAt) == (earlier.version.sequence, earlier.version.modifiedAt)
      {
        found.append(
          Difference(
            "the edit of \(effect.id) at \(effect.stamp) has an effect on top of its own", about: [effect.id])
        )
      }
      last[effect.id] = effect
    }
    return found
  }
}
