public import SyncModels
import SyncPorts

/// Limits the edits of a record that is seen often: at most one in an interval.
///
/// An example is a device that advertises itself all the time. The first sighting is recorded: it
/// is an ordinary edit, and a push sends it. Further sightings within the interval are only cached
/// here, where ``latest(_:key:)`` finds them. They are kept beside the record, because a record
/// shows the remote state and the pending edit on top of it, and nothing else. The first sighting
/// after the interval is recorded again. All of this is in the store, so it survives a restart. An
/// edit that fails is not recorded and does not count.
///
/// ```swift
/// let throttle = engine.throttle()
/// try await throttle.record(meter, key: meter.id)   // each time that it is seen
/// try await throttle.reset(id)                      // once it is disconnected
/// ```
public struct WriteThrottle: Sendable {
  let edits: LocalEdits
  let store: any LocalStore
  let clock: any Clock<Duration>
  /// How long after an edit no sighting is recorded.
  ///
  /// After a clock has been set back, a sighting waits at most twice as long.
  public let interval: Duration

  /// The outcome of a sighting.
  public enum Outcome: Hashable, Sendable {
    /// The record has it, and a push will send it.
    case recorded
    /// It is only cached; the first sighting at this instant or later is recorded.
    case cached(until: Timestamp)
  }

  /// Records or caches a sighting of a record.
  ///
  /// - Throws: As ``LocalEdits/upsert(_:key:)``. Nothing was kept then, and the next sighting is
  ///   recorded.
  @discardableResult
  public func record<T: SyncedRecord & Encodable>(
    _ value: T, key: String
  ) async throws(SyncError) -> Outcome {
    let (now, interval) = (clock.timestamp, interval)
    let id = RecordID(type: T.recordType, key: key)
    return try await edits.perform { (batch) throws(SyncError) in
      let keys = ThrottleKeys(try batch.writer.current(id))
      var machine =
        try batch.transaction.value(of: keys.mark) ?? ThrottleMachine()
      let decision = machine.see(at: now, interval: interval)
      if decision == .record { try batch.upsert(value, key: key) }
      try batch.transaction.set(machine, for: keys.mark)
      try batch.transaction.set(Sighting(value: value, seenAt: now), for: keys.sighting())
      return switch decision {
      case .record: .recorded
      case .cache(let end): .cached(until: end)
      }
    }
  }

  /// Returns the last sighting of a record, recorded or cached, and its time.
  ///
  /// `nil` if the record was never seen, or was seen as another type.
  public func latest<T: SyncedRecord>(
    _ type: T.Type, key: String
  ) async throws(SyncError) -> (value: T, seenAt: Timestamp)? {
    let id = RecordID(type: T.recordType, key: key)
    return try await store.read { (snapshot) throws(SyncError) in
      let keys = ThrottleKeys(try snapshot.current(id))
      // Another version of the app may have kept a value of another shape.
      let sighting = try snapshot.value(ifReadableOf: keys.sighting(of: T.self))
      return sighting.map { ($0.value, $0.seenAt) }
    }
  }

  /// Makes the next sighting of a record be recorded, whenever it comes.
  ///
  /// The last sighting stays known.
  public func reset(_ id: RecordID) async throws(SyncError) {
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.remove(ThrottleKeys(try transaction.current(id)).mark)
    }
  }
}

/// A sighting of a record.
struct Sighting<Value: Sendable>: Sendable {
  var value: Value
  var seenAt: Timestamp
}

extension Sighting: Encodable where Value: Encodable {}
extension Sighting: Decodable where Value: Decodable {}

/// The store keys of a throttle's knowledge of a record.
struct ThrottleKeys {
  private static let (mark, seen) = ("mark/", "seen/")
  static let marks = ValueFamily.throttle.rawValue + mark
  static let sightings = ValueFamily.throttle.rawValue + seen
  private let id: RecordID

  init(_ id: RecordID) {
    self.id = id
  }

  /// When a sighting of the record was recorded.
  var mark: ValueKey<ThrottleMachine> { ValueKey(.throttle, "\(Self.mark)\(id)") }

  /// Moves what is kept of a record to its new key.
  func move(to id: RecordID, in transaction: any StoreTransaction) throws(SyncError) {
    for (former, new) in [
      (mark.name, ThrottleKeys(id).mark.name),
      (sighting(of: Never.self).name, ThrottleKeys(id).sighting(of: Never.self).name),
    ] {
      guard let bytes = try transaction.value(forKey: former) else { continue }
      try transaction.setValue(bytes, forKey: new)
      try transaction.setValue(nil, forKey: former)
    }
  }

  /// The last sighting of the record.
  func sighting<Value: Sendable>(of type: Value.Type = Value.self) -> ValueKey<Sighting<Value>> {
    ValueKey(.throttle, "\(Self.seen)\(id)")
  }
}

extension SyncEngine {
  /// Returns a throttle that records at most one sighting of each record per interval.
  ///
  /// See ``WriteThrottle``.
  public func throttle(every interval: Duration = .seconds(120)) -> WriteThrottle {
    WriteThrottle(edits: edits, store: environment.store, clock: environment.clock, interval: interval)
  }
}

/// Decides whether to record a sighting: at most one of a key in an interval.
///
/// A clock may be set back and corrected again. The machine allows for both. By the clock that is
/// ahead, the last recording starts the interval. By the clock that is behind, the first sighting
/// that it stamps starts the interval. So no sighting is recorded twice within an interval, and
/// none waits longer than two intervals, however far ahead a clock was once. A jump ahead cannot be
/// distinguished from time that passes, and counts as time that passes.
struct ThrottleMachine: Hashable, Codable {
  /// When a sighting was last recorded, by the clock that was furthest ahead.
  ///
  /// Each recording by a clock behind it moves it forward.
  var recordedAt: Timestamp?
  /// The start of the interval by a clock that is behind ``recordedAt``; `nil` without one.
  var setBackAt: Timestamp?

  /// The decision on a sighting.
  enum Decision: Hashable {
    case record
    case cache(until: Timestamp)
  }

  /// Decides on a sighting at an instant.
  mutating func see(at now: Timestamp, interval: Duration) -> Decision {
    guard let recordedAt else { return record(at: now) }
    guard now < recordedAt else {
      setBackAt = nil
      return now.duration(since: recordedAt) < interval
        ? .cache(until: recordedAt + interval) : record(at: now)
    }
    let since = setBackAt.map { min($0, now) } ?? now
    let elapsed = now.duration(since: since)
    setBackAt = elapsed < interval ? since : now
    guard elapsed < interval else {
      // The same time has passed by the clock that is ahead.
      self.recordedAt = recordedAt + elapsed
      return .record
    }
    let end = since + interval
    return .cache(until: end < recordedAt ? end : recordedAt + interval)
  }

  private mutating func record(at now: Timestamp) -> Decision {
    recordedAt = now
    return .record
  }

  /// When a sighting was last recorded or cached, by the current clock.
  func lastSeen(at now: Timestamp) -> Timestamp? {
    recordedAt.map { $0 <= now ? $0 : min(setBackAt ?? $0, now) }
  }
}
