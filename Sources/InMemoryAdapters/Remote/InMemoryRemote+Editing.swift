public import SyncModels
import SyncPorts
import Synchronization

extension InMemoryRemote {
  /// Writes a record, as another client would.
  ///
  /// Bytes that are no JSON object are accepted, and sent as poison.
  ///
  /// - Parameter modifiedAt: The modification time, if it is not the server's time now.
  public func upsert(_ type: RecordType, _ key: String, _ payload: [UInt8], modifiedAt: Timestamp? = nil) {
    stage(type, key, .record(Payload(payload)), modifiedAt).commit()
  }

  /// Writes a record given as JSON text, as another client would.
  public func upsert(_ type: RecordType, _ key: String, _ json: String, modifiedAt: Timestamp? = nil) {
    upsert(type, key, Array(json.utf8), modifiedAt: modifiedAt)
  }

  /// Deletes a record and keeps its tombstone; a record that is not there gets one too.
  public func delete(_ type: RecordType, _ key: String, modifiedAt: Timestamp? = nil) {
    stage(type, key, .deleted, modifiedAt).commit()
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

  /// Puts bytes among the records that no source can read as one.
  ///
  /// - Parameter key: The key under which the bytes are known; `nil` for bytes that nobody can attribute.
  public func putMalformed(_ type: RecordType, _ key: String? = nil, _ bytes: [UInt8]) {
    let time = configuration.rounded(clock.timestamp)
    change(type) { collection in
      // A place of its own, which is never sent and which no client's key is likely to take.
      let place = key ?? "\u{1}unknown-\(collection.sequence)"
      collection.commit(key: place, body: .malformed(Payload(bytes), key: key), modifiedAt: time)
    }
  }

  /// Begins a write that stays invisible until it is committed, as a slow transaction does.
  public func prepareUpsert(_ type: RecordType, _ key: String, _ json: String) -> StagedChange {
    stage(type, key, .record(Payload(Array(json.utf8))), nil)
  }

  /// Begins a deletion that stays invisible until it is committed.
  public func prepareDelete(_ type: RecordType, _ key: String) -> StagedChange {
    stage(type, key, .deleted, nil)
  }

  /// Removes every record of a type without a tombstone and restarts the numbering; tokens are void, the remote replaced.
  public func wipe(_ type: RecordType) {
    change(type) { $0.wipe() }
  }

  /// Makes every token void that was given so far, for one type or for all.
  public func expireTokens(of type: RecordType? = nil) {
    for type in types(type) { change(type) { $0.expireTokens() } }
  }

  /// Makes page tokens void that were given so far, and leaves sync tokens as they are.
  public func expirePageTokens(of type: RecordType? = nil) {
    for type in types(type) { change(type) { $0.expirePageTokens() } }
  }

  /// The records of a type that exist, by key, poison left out.
  public func records(of type: RecordType) -> [(key: String, payload: Payload)] {
    let collection = state.withLock { $0.collections[type] }
    return (collection?.byKey ?? OrderedMap()).compactMap { _, document in
      guard case .record(let payload) = document.body else { return nil }
      return (document.key, payload)
    }
  }

  /// A change with its modification time, made and not yet visible.
  public struct StagedChange: Sendable {
    fileprivate let remote: InMemoryRemote
    fileprivate let type: RecordType
    fileprivate let key: String
    fileprivate let body: RemoteDocument.Body
    /// When the change was made, by the server's clock.
    public let modifiedAt: Timestamp

    /// Makes the change visible, now; its modification time stays what it was.
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
      // Snapshots are found by their number, which starts over in a new era.
      if state.snapshots[type]?.last?.era != state.collections[type]?.era { state.snapshots[type] = nil }
    }
  }
}
