import SyncModels
import SyncPorts

/// Loads one type's bundled records into the store, in portions.
///
/// A type that the store knows already is skipped.
struct SectionLoad: Sendable {
  var entity: Entity
  var schema: SyncSchema
  var layout: RecordLayout
  var section: BootstrapDocument.Section
  var source: any RemoteRecordSource
  var fence: Int64
  var now: Timestamp

  /// Loads the section and returns the number of its records; `nil` for a known type.
  func run(_ lease: LeaseKeeper) async throws(SyncError) -> Int? {
    // Readers of a type that is shown only whole see all of it or nothing.
    let size = entity.visibility == .wholeEntity ? section.records.count : MergeContext.portion
    var start = 0
    repeat {
      let (records, end) = (start, min(start + size, section.records.count))
      let isNew = try await lease.write { (transaction) throws(SyncError) in
        try load(records..<end, in: transaction)
      }
      guard isNew else { return nil }
      start = end
    } while start < section.records.count
    return section.records.count
  }

  /// Loads some records, and with the last ones the checkpoint of the first sync.
  ///
  /// - Returns: Whether the type was new to the store.
  private func load(_ places: Range<Int>, in transaction: any StoreTransaction) throws(SyncError) -> Bool {
    guard try transaction.checkpoint(for: entity.type) == nil else { return false }
    try StoredDeclarations.noteTurn(of: schema, at: now, in: transaction)
    let reader = RecordReader(entity, layout: layout)
    var merge = PageMerge(
      entity,
      context: MergeContext(
        schema: schema, edits: EditOptions(), finder: .sync(fence: fence), now: now,
        source: source.capabilities, markPass: nil))
    let changes = places.map { place in
      let location = "bundled \(entity.type), record \(place + 1)"
      return Incoming(reader.read(section.records[place], location: location).unversioned)
    }
    try merge.mergeAndRelease(changes, in: transaction)
    guard places.upperBound == section.records.count else { return true }
    var checkpoint = Checkpoint(
      scope: Checkpoint.Scope(
        source: source.identity, query: source.query(for: entity.type), schemaVersion: entity.schemaVersion,
        store: try transaction.storeIdentity()))
    checkpoint.committed = section.token
    checkpoint.committedAt = section.token == nil ? nil : now
    try transaction.setCheckpoint(checkpoint, for: entity.type)
    return true
  }
}

extension RecordChange {
  /// The same change without a version, as no remote has confirmed it.
  fileprivate var unversioned: RecordChange {
    switch self {
    case .upsert(var record):
      record.version = .unversioned
      return .upsert(record)
    case .tombstone(var tombstone):
      tombstone.version = .unversioned
      return .tombstone(tombstone)
    case .malformed:
      return self
    }
  }
}
