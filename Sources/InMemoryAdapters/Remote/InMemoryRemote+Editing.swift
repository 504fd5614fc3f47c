public import SyncModels
import SyncPorts
import Synchronization

extension InMemoryRemote {
  /// Writes a record, as another client would.
  ///
  /// Bytes that are not a JSON object are accepted, and sent as a malformed record.
  ///
  /// - Parameters:
  ///   - type: The record's type.
  ///   - key: The record's key.
  ///   - payload: The record's JSON object, as text in UTF-8.
  ///   - modifiedAt: The modification time; by default the server's time now.
  public func upsert(_ type: RecordType, _ key: String, _ payload: [UInt8], modifiedAt: Timestamp? = nil) {
    stage(type, key, .record(Payload(payload)), modifiedAt).commit()
  }

  /// Writes a record given as JSON text, as another client would.
  public func upsert(_ type: RecordType, _ key: String, _ json: String, modifiedAt: Timestamp? = nil) {
    upsert(type, key, Array(json.utf8), modifiedAt: modifiedAt)
  }

  /// Deletes a record and keeps its tombstone, even for a record that does not exist.
  public func delete(_ type: RecordType, _ key: String, modifiedAt: Timestamp? = nil) {
    stage(type, key, .deleted(nil), modifiedAt).commit()
  }

  /// Writes many records at once, with one modification time.
  public func load(
    _ type: RecordType, _ records: some Sequence<(key: String, payload: [UInt8])>,
    modifiedAt: Timestamp? = nil
  ) {
    let time = modifiedAt ?? configuration.rounded(clock.timestamp)
    let records = Array(records)
    change(type) { collection in
      for (key, payload) in records {
        collection.commit(key: key, body: .record(Payload(payload)), modifiedAt: time)
      }
    }
  }

  /// Adds bytes that no source can read as a record.
  ///
  /// - Parameters:
  ///   - type: The type whose listings have the bytes.
  ///   - key: The key of the bytes; `nil` for bytes without a known key.
  ///   - bytes: The bytes.
  public func putMalformed(_ type: RecordType, _ key: String? = nil, _ bytes: [UInt8]) {
    let time = configuration.rounded(clock.timestamp)
    change(type) { collection in
      // A key that is never sent, and that clients are unlikely to use.
      let place = key ?? "\u{1}unknown-\(collection.sequence)"
      collection.commit(key: place, body: .malformed(Payload(bytes), key: key), modifiedAt: time)
    }
  }

  /// Begins a write that stays invisible until it is committed, like a slow transaction.
  public func prepareUpsert(_ type: RecordType, _ key: String, _ json: String) -> StagedChange {
    stage(type, key, .record(Payload(Array(json.utf8))), nil)
  }

  /// Begins a deletion that stays invisible until it is committed.
  public func prepareDelete(_ type: RecordType, _ key: String) -> StagedChange {
    stage(type, key, .deleted(nil), nil)
  }

  /// Removes every record of a type without a tombstone, and restarts the numbering.
  ///
  /// All tokens become invalid: the remote was replaced.
  public func wipe(_ type: RecordType) {
    change(type) { $0.wipe() }
  }

  /// Invalidates all tokens so far, for one type or for all.
  public func expireTokens(of type: RecordType? = nil) {
    for type in types(type) { change(type) { $0.expireTokens() } }
  }

  /// Invalidates page tokens so far, and keeps sync tokens valid.
  public func expirePageTokens(of type: RecordType? = nil) {
    for type in types(type) { change(type) { $0.expirePageTokens() } }
  }

  /// The existing records of a type, by key, without malformed records.
  public func records(of type: RecordType) -> [(key: String, payload: Payload)] {
    let collection = state.withLock { $0.collections[type] }
    return (collection?.byKey ?? OrderedMap()).compactMap { _, document in
      guard case .record(let payload) = document.body else { return nil }
      return (document.key, payload)
    }
  }

  /// A prepared change with its modification time, not visible yet.
  public struct StagedChange: Sendable {
    fileprivate let remote: InMemoryRemote
    fileprivate let type: RecordType
    fileprivate let key: String
    fileprivate let body: RemoteDocument.Body
    /// The time of the change, by the server's clock.
    public let modifiedAt: Timestamp

    /// Makes the change visible now. Its modification time stays the same.
    public func commit() {
      remote.change(type) { $0.commit(key: key, body: body, modifiedAt: modifiedAt) }
    }
  }

  private func stage(
    _ type: RecordType, _ key: String, _ body: RemoteDocument.Body, _ modifiedAt: Timestamp?
  ) -> StagedChange {
    let time = modifiedAt ?? configuration.rounded(clock.timestamp)
    return StagedChange(remote: self, type: type, key: key, body: body, modifiedAt: time)
  }

  private func types(_ type: RecordType?) -> [RecordType] {
    type.map { [$0] } ?? state.withLock { Array($0.collections.keys) }
  }

  private func change(_ type: RecordType, _ body: (inout RemoteCollection) -> Void) {
    state.withLock { state in
      body(&state.collections[type, default: RemoteCollection(configuration)])
      // Snapshots are identified by their number, which restarts in a new era.
      if state.snapshots[type]?.last?.era != state.collections[type]?.era { state.snapshots[type] = nil }
    }
  }
}
