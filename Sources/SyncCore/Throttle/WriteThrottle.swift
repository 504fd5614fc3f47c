import SyncJSON
public import SyncModels
import SyncPorts

/// Keeps what is seen all the time, such as a device that advertises itself, from being written all the time: at most one edit of a record in an interval.
///
/// The first sighting is recorded: an ordinary edit, which the remote is told. Others within the interval are only kept here, where ``latest(_:key:)`` finds
/// them: beside the record, not in it, for a record shows the remote's word with the pending edit on top, and nothing else. The first one
/// after the interval is recorded again. All of it is in the store, so a restart changes nothing; an edit that fails is not recorded and does not count.
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
  /// How long after an edit nothing is recorded.
  ///
  /// After a clock has been set back, a sighting waits for twice as long at most.
  public let interval: Duration

  /// What became of a sighting.
  public enum Outcome: Hashable, Sendable {
    /// It is in the record, and the remote will be told.
    case recorded
    /// It is kept here alone; the first one at this instant or later is recorded.
    case cached(until: Timestamp)
  }

  /// Takes note of what a record was seen as.
  ///
  /// - Throws: As ``LocalEdits/upsert(_:key:)``; nothing was kept then, and the next sighting is recorded.
  @discardableResult
  public func record<T: SyncedRecord & Encodable>(
    _ value: T, key: String
  ) async throws(SyncError) -> Outcome {
    let (now, interval) = (clock.timestamp, interval)
    let id = RecordID(type: T.recordType, key: key)
    #if MUTANTS
      if Mutant.throttleKeptAfterAFailure.isActive {
        return try await recordApart(value, key: key, now)
      }
    #endif
    return try await edits.perform { (batch) throws(SyncError) in
      let place = ThrottlePlace(id)
      var machine =
        try batch.transaction.decoded(ThrottleMachine.self, forKey: place.mark)
        ?? ThrottleMachine()
      let decision = machine.see(at: now, interval: interval)
      if decision == .record { try batch.upsert(value, key: key) }
      try batch.transaction.encode(machine, forKey: place.mark)
      try batch.transaction.encode(Sighting(value: value, seenAt: now), forKey: place.sighting)
      return switch decision {
      case .record: .recorded
      case .cache(let end): .cached(until: end)
      }
    }
  }

  /// What a record was last seen as, recorded or not, and when; `nil` where it was not seen, or as another type.
  public func latest<T: SyncedRecord>(
    _ type: T.Type, key: String
  ) async throws(SyncError) -> (value: T, seenAt: Timestamp)? {
    let place = ThrottlePlace(RecordID(type: T.recordType, key: key))
    return try await store.read { (snapshot) throws(SyncError) in
      guard let bytes = try snapshot.value(forKey: place.sighting) else { return nil }
      // What another version of the app saw may be of another shape.
      let sighting = try? JSONByteDecoder().decode(Sighting<T>.self, from: bytes[...])
      return sighting.map { ($0.value, $0.seenAt) }
    }
  }

  /// Lets the next sighting of a record be recorded, whenever it comes; what it was last seen as stays known.
  public func reset(_ id: RecordID) async throws(SyncError) {
    try await store.write(.app) { (transaction) throws(SyncError) in
      try transaction.setValue(nil, forKey: ThrottlePlace(id).mark)
    }
  }
}

#if MUTANTS
  extension WriteThrottle {
    /// Says that it was recorded in a transaction before the one that does it.
    private func recordApart<T: SyncedRecord & Encodable>(
      _ value: T, key: String, _ now: Timestamp
    ) async throws(SyncError) -> Outcome {
      let (place, interval) = (ThrottlePlace(RecordID(type: T.recordType, key: key)), interval)
      let decision = try await store.write(.app) { (transaction) throws(SyncError) in
        var machine = try transaction.decoded(ThrottleMachine.self, forKey: place.mark) ?? ThrottleMachine()
        let decision = machine.see(at: now, interval: interval)
        try transaction.encode(machine, forKey: place.mark)
        return decision
      }
      guard decision == .record else { return .cached(until: now) }
      try await edits.upsert(value, key: key)
      return .recorded
    }
  }
#endif

/// What a record was seen as.
struct Sighting<Value> {
  var value: Value
  var seenAt: Timestamp
}

extension Sighting: Encodable where Value: Encodable {}
extension Sighting: Decodable where Value: Decodable {}

/// Where the store keeps what a throttle knows of a record.
struct ThrottlePlace {
  static let prefix = "throttle/"
  let mark: String
  let sighting: String

  init(_ id: RecordID) {
    mark = "\(Self.prefix)mark/\(id)"
    sighting = "\(Self.prefix)seen/\(id)"
  }
}

extension SyncEngine {
  /// Records sightings of records at most once in an interval each; see ``WriteThrottle``.
  public func throttle(every interval: Duration = .seconds(120)) -> WriteThrottle {
    WriteThrottle(edits: edits, store: environment.store, clock: environment.clock, interval: interval)
  }
}
