import SyncJSON
public import SyncModels
public import SyncPorts

/// The families of values that the engine keeps, by the starts of their keys.
///
/// All other keys are the app's own.
package enum ValueFamily: String, CaseIterable, Sendable {
  case account = "account"
  case checkpoints = "checkpoint/"
  case declarations = "declarations"
  case edits = "edits/"
  case expiring = "expiring/"
  case groups = "group/"
  case history = "history"
  case listingGaps = "listing-gap/"
  case migrations = "migration/"
  case moved = "moved/"
  case postponements = "put-off/"
  case push = "push/"
  case rebuilds = "rebuild/"
  case sourceEpochs = "source-epoch/"
  case status = "status/"
  case sync = "sync/"
  case throttle = "throttle/"

  /// Returns the family of a key; `nil` for the app's own.
  package init?(of key: String) {
    guard let family = Self.allCases.first(where: { key.hasPrefix($0.rawValue) }) else { return nil }
    self = family
  }

  /// Whether a salvage takes the values over to a new store.
  ///
  /// The others describe syncs, and the new store has had none.
  package var survivesSalvage: Bool {
    switch self {
    case .account, .expiring, .groups, .migrations, .moved, .throttle: true
    case .checkpoints, .declarations, .edits, .history, .listingGaps, .postponements, .push, .rebuilds,
      .sourceEpochs, .status, .sync:
      false
    }
  }
}

/// The key of a value in the store, with the value's type.
///
/// Values are stored as JSON, and those of a raw byte as that byte.
package struct ValueKey<Value: Sendable>: Sendable {
  /// The name in the store.
  let name: String

  /// Names a value of a family.
  package init(_ family: ValueFamily, _ name: String = "") {
    self.name = family.rawValue + name
  }
}

/// A note whose presence is all that it says.
enum Noted: UInt8 {
  case noted = 1
}

extension StoreSnapshot {
  /// Returns the value of a key; `nil` if none is kept.
  ///
  /// - Throws: `storeUnreadable` if the kept value is of another format.
  package func value<Value: Decodable>(of key: ValueKey<Value>) throws(SyncError) -> Value? {
    guard let bytes = try value(forKey: key.name) else { return nil }
    do {
      return try JSONByteDecoder().decode(Value.self, from: bytes[...])
    } catch {
      throw unreadable(key, error)
    }
  }

  private func unreadable(_ key: ValueKey<some Sendable>, _ error: any Error) -> SyncError {
    SyncError(
      .storeUnreadable, during: "reading \(key.name)",
      "The value is not in the format of this version of the library.", underlying: error)
  }

  /// Returns the value of a key; `nil` if none is kept.
  ///
  /// - Throws: `storeUnreadable` if the kept value is of another format.
  func value<Value: StoredForm>(of key: ValueKey<Value>) throws(SyncError) -> Value? {
    guard let bytes = try value(forKey: key.name) else { return nil }
    do throws(StoredFormError) {
      return try Value(json: bytes)
    } catch {
      throw unreadable(key, error)
    }
  }

  /// Returns the value of a key; `nil` also for a value of another format.
  func value<Value: Decodable>(ifReadableOf key: ValueKey<Value>) throws(SyncError) -> Value? {
    try value(forKey: key.name).flatMap { try? JSONByteDecoder().decode(Value.self, from: $0[...]) }
  }

  /// Returns the value of a key; `nil` also for a value of another format.
  func value<Value: StoredForm>(ifReadableOf key: ValueKey<Value>) throws(SyncError) -> Value? {
    try value(forKey: key.name).flatMap { try? Value(json: $0) }
  }

  /// Returns the byte of a key.
  ///
  /// `nil` if none is kept, and for a byte without a meaning.
  func value<Value: RawRepresentable<UInt8>>(of key: ValueKey<Value>) throws(SyncError) -> Value? {
    try value(forKey: key.name)?.first.flatMap(Value.init)
  }
}

extension StoreTransaction {
  /// Keeps a value under a key.
  package func set<Value: Encodable>(_ value: Value, for key: ValueKey<Value>) throws(SyncError) {
    let json: [UInt8]
    do {
      json = try JSONByteEncoder().encode(value)
    } catch {
      throw SyncError(.storeFailure, during: "saving \(key.name)", underlying: error)
    }
    try setValue(json, forKey: key.name)
  }

  /// Keeps a value under a key.
  package func set<Value: StoredForm>(_ value: Value, for key: ValueKey<Value>) throws(SyncError) {
    try setValue(value.json, forKey: key.name)
  }

  /// Keeps a byte under a key.
  func set<Value: RawRepresentable<UInt8>>(_ value: Value, for key: ValueKey<Value>) throws(SyncError) {
    try setValue([value.rawValue], forKey: key.name)
  }

  /// Removes the value of a key, if there is one.
  func remove(_ key: ValueKey<some Sendable>) throws(SyncError) {
    try setValue(nil, forKey: key.name)
  }
}

// Checkpoints are kept values, one for each type.

extension StoreSnapshot {
  /// The checkpoint of a type; `nil` before its first page is committed.
  ///
  /// - Throws: `storeUnreadable` if another kind of value is kept in its place.
  public func checkpoint(for type: RecordType) throws(SyncError) -> Checkpoint? {
    try value(of: Checkpoint.key(for: type))
  }
}

extension StoreTransaction {
  /// Saves the checkpoint of a type.
  package func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    try set(checkpoint, for: Checkpoint.key(for: type))
  }
}

extension Checkpoint {
  /// The prefix of the keys of all checkpoints.
  package static let keyPrefix = ValueFamily.checkpoints.rawValue

  /// Returns the key of a type's checkpoint.
  package static func key(for type: RecordType) -> ValueKey<Checkpoint> {
    ValueKey(.checkpoints, type.rawValue)
  }
}

extension Checkpoint {
  /// The complete listing that marks records; `nil` without one.
  ///
  /// It is under way, or waits for its sweep.
  var markPass: Int64? {
    if let inFlight, inFlight.coverage == .full { return inFlight.number }
    return sweep?.pass
  }

  /// Returns the last pass that is known to have held a live record.
  ///
  /// The mark on the record's row decides: a listing that is under way or waits for its sweep has
  /// held the records that it marked, and no others.
  func lastPass(ofRowMarked isMarked: Bool) -> Int64 {
    guard let markPass else { return lastPass }
    return isMarked ? markPass : markPass - 1
  }

  /// Ends the sweep of the complete listing.
  mutating func endSweep(by fence: Int64, at now: Timestamp, isAnythingInDoubt: Bool) {
    guard let pass = sweep?.pass else { return }
    (needsSecondListing, hasNewQuery) = (isAnythingInDoubt, hasNewQuery && isAnythingInDoubt)
    sweep = nil
    sweptPass = pass
    sweptFence = fence
    deletionsVerifiedAt = now
  }
}
