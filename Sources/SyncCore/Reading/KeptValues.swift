import SyncJSON
public import SyncModels
public import SyncPorts

// Checkpoints are kept values, one for each type.

extension StoreSnapshot {
  /// The checkpoint of a type; `nil` before its first page is committed.
  ///
  /// - Throws: `storeUnreadable` if another kind of value is kept in its place.
  public func checkpoint(for type: RecordType) throws(SyncError) -> Checkpoint? {
    try decoded(Checkpoint.self, forKey: Checkpoint.key(for: type))
  }
}

extension StoreTransaction {
  /// Saves the checkpoint of a type.
  package func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    try encode(checkpoint, forKey: Checkpoint.key(for: type))
  }
}

extension Checkpoint {
  /// The prefix of the keys of all checkpoints.
  package static let keyPrefix = "checkpoint/"

  /// Returns the key of a type's checkpoint.
  package static func key(for type: RecordType) -> String { keyPrefix + type.rawValue }
}

// Small state of the engine, kept in the store under a key, as JSON.
extension StoreSnapshot {
  /// Returns the value of a key.
  ///
  /// - Throws: `storeUnreadable` if the value is of another kind.
  func decoded<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(SyncError) -> Value? {
    guard let bytes = try value(forKey: key) else { return nil }
    do {
      return try JSONByteDecoder().decode(Value.self, from: bytes[...])
    } catch {
      throw SyncError(
        .storeUnreadable, during: "reading \(key)",
        "The value is not in the format of this version of the library.",
        underlying: error)
    }
  }
}

extension StoreTransaction {
  /// Keeps a value under a key.
  func encode<Value: Encodable>(_ value: Value, forKey key: String) throws(SyncError) {
    let bytes: [UInt8]
    do {
      bytes = try JSONByteEncoder().encode(value)
    } catch {
      throw SyncError(.storeFailure, during: "saving \(key)", underlying: error)
    }
    try setValue(bytes, forKey: key)
  }
}

extension Checkpoint {
  /// The complete listing that marks records; `nil` without one.
  ///
  /// It is under way, or waits for its sweep.
  var markPass: Int64? {
    if let inFlight, inFlight.coverage == .everything { return inFlight.number }
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

  /// Notes that the sweep of the complete listing is done.
  mutating func noteSwept(by fence: Int64, at now: Timestamp, isAnythingInDoubt: Bool) {
    guard let pass = sweep?.pass else { return }
    needsSecondListing = isAnythingInDoubt
    sweep = nil
    sweptPass = pass
    sweptFence = fence
    deletionsVerifiedAt = now
  }
}
