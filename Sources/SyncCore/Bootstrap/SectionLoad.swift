import SyncModels
import SyncPorts

/// Puts one type's bundled records into the store, in one transaction, if nothing is known of the type yet.
struct SectionLoad: Sendable {
  var entity: Entity
  var graph: EntityGraph
  var layout: RecordLayout
  var section: BootstrapDocument.Section
  var source: any RemoteRecordSource
  var fence: Int64
  var now: Timestamp

  /// Loads the section, and returns how many records it holds; `nil` where there was nothing to do.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> Int? {
    guard try transaction.checkpoint(for: entity.type) == nil else { return nil }
    var checkpoint = Checkpoint(
      scope: Checkpoint.Scope(
        source: source.identity, query: source.query(for: entity.type), schemaVersion: entity.schemaVersion,
        store: try transaction.storeIdentity()))
    checkpoint.committed = section.token
    checkpoint.committedAt = section.token == nil ? nil : now
    let reader = RecordReader(entity, layout: layout)
    var merge = PageMerge(
      entity,
      context: MergeContext(
        graph: graph, edits: EditOptions(), fence: fence, now: now, source: source.capabilities,
        pass: Checkpoint.Pass(number: 0, base: nil, coverage: .changes), markPass: nil, stages: false))
    var count = 0
    var batch: [Incoming] = []
    for bytes in section.records {
      count += 1
      batch.append(
        Incoming(reader.read(bytes, location: "bundled \(entity.type), record \(count)").unversioned))
      if batch.count == MergeContext.portion {
        try merge.mergeAndRelease(batch, in: transaction)
        batch = []
      }
    }
    try merge.mergeAndRelease(batch, in: transaction)
    try transaction.setCheckpoint(checkpoint, for: entity.type)
    return count
  }
}

extension RecordChange {
  /// The same change as one that no remote has vouched for.
  fileprivate var unversioned: RecordChange {
    switch self {
    case .upsert(var record):
      record.version = .unversioned
      return .upsert(record)
    case .tombstone(var tombstone):
      tombstone.version = .unversioned
      return .tombstone(tombstone)
    case .poison:
      return self
    }
  }
}
